import type { Db, Tx } from "../../src/db/schema.ts";
import { databaseUnavailable } from "../../src/lib/lost-connection.ts";

/**
 * A database over a connection that breaks once, when a transaction commits: `before` the commit, or `after`
 * it, so that only the answer is lost.
 * @param meanwhile runs before the caller learns of it
 * @param skip transactions that commit before that one
 */
export function breakingAtCommit(
  db: Db,
  fault: "before" | "after",
  { meanwhile = async () => {}, skip = 0 }: { meanwhile?: () => Promise<unknown>; skip?: number } = {},
): Db {
  let transactions = 0;
  const execute = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    transactions += 1;
    if (transactions !== skip + 1) return await db.transaction().execute(work);
    await db.transaction().execute(async (tx) => {
      await work(tx);
      if (fault === "before") throw databaseUnavailable(null);
    });
    await meanwhile();
    throw databaseUnavailable(null);
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "transaction") return () => ({ execute });
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
