import { sql } from "kysely";

const MARK = "/* prepared */";

/**
 * Begins a read whose plan is kept by the connection: to plan a join takes longer than to run it, in the embedded
 * database three times as long. Its text is one of a few, and names its columns, which then may not change their
 * types. A plan outlives the sizes that it was made for, so it must be right at any: say what leads to what.
 */
export const prepared = sql.raw(MARK);

export function isPrepared(statement: string): boolean {
  return statement.startsWith(MARK);
}
