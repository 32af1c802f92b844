import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Db, Schema } from "../../src/db/schema.ts";

/** A database whose queries wait until the test settles `answer`. Queries then return no rows. */
export function hangingDb(): { db: Db; answer: PromiseWithResolvers<void>; queries(): number } {
  const answer = Promise.withResolvers<void>();
  let queries = 0;
  class HangingDriver extends DummyDriver {
    override async acquireConnection() {
      queries += 1;
      await answer.promise;
      return await super.acquireConnection();
    }
  }
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new HangingDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return { db, answer, queries: () => queries };
}
