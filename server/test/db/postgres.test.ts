import { sql } from "kysely";
import { PgBoss } from "pg-boss";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/db/open.ts";
import { describeDatabase } from "./database-contract.ts";

const databaseUrl = process.env.TEST_DATABASE_URL;
const log = pino({ level: "silent" });

if (databaseUrl) {
  const open = <Schema>() => openDatabase<Schema>({ databaseUrl, folder: "", log });
  describeDatabase("the database on PostgreSQL", open);

  describe("an idle transaction", () => {
    test("is terminated by PostgreSQL after half a minute, also on the queue's connections", async () => {
      const { kysely, boss, close } = await open();
      onTestFinished(close);
      const { rows } = await sql`show idle_in_transaction_session_timeout`.execute(kysely);
      expect(rows).toEqual([{ idle_in_transaction_session_timeout: "30s" }]);
      const queue = new PgBoss({ ...boss, supervise: false, schedule: false });
      await queue.start();
      onTestFinished(() => queue.stop());
      const asked = await queue.getDb().executeSql("show idle_in_transaction_session_timeout");
      expect(asked.rows).toEqual([{ idle_in_transaction_session_timeout: "30s" }]);
    });

    test("releases its row locks, writes nothing, and fails as if the connection was lost", async () => {
      const frozen = await open<{ held: { id: number; text: string } }>();
      const other = await open<{ held: { id: number; text: string } }>();
      onTestFinished(async () => {
        await sql`drop table held`.execute(other.kysely);
        await frozen.close();
        await other.close();
      });
      await sql`create table held (id integer primary key, text text not null)`.execute(other.kysely);
      await other.kysely.insertInto("held").values({ id: 1, text: "before" }).execute();

      const late = frozen.kysely.transaction().execute(async (tx) => {
        await sql`set local idle_in_transaction_session_timeout = '100ms'`.execute(tx);
        await tx.updateTable("held").set({ text: "of the frozen" }).execute();
        // Waits for the row's lock, so its success shows that the lock was released.
        await other.kysely.updateTable("held").set({ text: "of the other" }).execute();
        await tx.updateTable("held").set({ text: "too late" }).execute();
      });
      await expect(late).rejects.toMatchObject({ code: "service_unavailable" });
      expect(await frozen.kysely.selectFrom("held").select("text").execute()).toEqual([
        { text: "of the other" },
      ]);
    });
  });
} else {
  describe("the database on PostgreSQL", () => {
    // Only some machines have a server; CI starts one. The skipped test shows that these tests did not run.
    test.skip("is not tested: TEST_DATABASE_URL names no server", () => {});
  });
}

test("a missing server causes an error instead of a wait", async () => {
  const nowhere = "postgres://subtext@127.0.0.1:1/subtext";
  await expect(openDatabase({ databaseUrl: nowhere, folder: "", log })).rejects.toMatchObject({
    code: "service_unavailable",
    message: expect.stringContaining("ECONNREFUSED 127.0.0.1:1"),
  });
});
