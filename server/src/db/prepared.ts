import { sql } from "kysely";

const MARK = "/* prepared */";

/**
 * Marks a query whose plan each connection caches, because planning a join takes longer than running it. Use it only
 * for a small, fixed set of queries that name their columns. The types of these columns must not change. Specify the
 * join order, because a cached plan must be efficient at any table size.
 */
export const prepared = sql.raw(MARK);

export function isPrepared(statement: string): boolean {
  return statement.startsWith(MARK);
}
