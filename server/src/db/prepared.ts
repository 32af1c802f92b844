import { sql } from "kysely";

const MARK = "/* prepared */";

/**
 * Starts a query whose plan the connection caches: planning a join takes longer than running it, and three times as
 * long in the embedded database. Use it only for a small set of SQL texts that name their columns; the types of these
 * columns must not change. A cached plan must stay efficient at any table size, so spell out the join order.
 */
export const prepared = sql.raw(MARK);

export function isPrepared(statement: string): boolean {
  return statement.startsWith(MARK);
}
