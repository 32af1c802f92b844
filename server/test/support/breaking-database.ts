import type { Db, Tx } from "../../src/db/schema.ts";
import { databaseUnavailable } from "../../src/lib/lost-connection.ts";

/**
 * Returns a database whose connection breaks once: before a commit, or after it, when only the response is lost.
 * @param meanwhile runs before the transaction throws
 * @param skip number of transactions that succeed first
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
