import { sql } from "kysely";

const MARK = "/* prepared */";

/**
 * Begins a read whose plan the embedded database keeps: there, to plan a join takes three times as long as to run
 * it. Its text is one of a few, and names its columns, which then may not change their types. A PostgreSQL server
 * plans anew, outside this process: poolers before it know no statements of earlier transactions.
 */
export const prepared = sql.raw(MARK);

export function isPrepared(statement: string): boolean {
  return statement.startsWith(MARK);
}
