import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { fromKysely, PgBoss } from "pg-boss";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { prepared } from "../../src/db/prepared.ts";

const TIMESTAMP = new Date("2026-07-01T23:59:59.999Z");

interface Schema {
  [table: string]: { id: number; name: string };
}

/** The behavior that the service requires of every database. */
export function describeDatabase(name: string, open: () => Promise<Database<Schema>>): void {
  describe(name, () => {
    let database: Database<Schema>;
    let db: Kysely<Schema>;
    beforeAll(async () => {
      database = await open();
      db = database.kysely;
    });
    afterAll(() => database.close());

    async function createTable(): Promise<string> {
      const table = `contract_${randomBytes(6).toString("hex")}`;
      await sql`create table ${sql.table(table)} (id integer primary key, name text not null)`.execute(db);
      onTestFinished(async () => {
        await sql`drop table if exists ${sql.table(table)}`.execute(db);
      });
      return table;
    }

    const namesIn = async (table: string) =>
      (await db.selectFrom(table).select("name").orderBy("id").execute()).map((row) => row.name);

    describe("values", () => {
      test("are returned as the same JavaScript types by every database", async () => {
        const { rows } = await sql`select
          1::integer as "integer", 2::bigint as "bigint", count(*) as "count", 1.5::double precision as "double",
          12.340::numeric as "numeric", true as "boolean", 'é'::text as "text", null::text as "null",
          '2026-01-31 10:20:30.456+02'::timestamptz as "timestamptz",
          '2026-01-31 10:20:30.456'::timestamp as "timestamp", '2026-01-31'::date as "date",
          '90 minutes'::interval as "interval", '{"a": [1, null]}'::jsonb as "jsonb", '"text"'::json as "json",
          '\\x00ff'::bytea as "bytea", 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid as "uuid",
          array['a', null, 'c,"d"'] as "texts", array[1, 2] as "integers", array[true] as "booleans",
          array['2026-01-31 00:00:00+00'::timestamptz] as "timestamps"`.execute(db);
        expect(rows).toEqual([
          {
            integer: 1,
            bigint: 2,
            count: 1,
            double: 1.5,
            numeric: "12.340",
            boolean: true,
            text: "é",
            null: null,
            timestamptz: new Date("2026-01-31T08:20:30.456Z"),
            timestamp: new Date("2026-01-31T10:20:30.456Z"),
            date: "2026-01-31",
            interval: "01:30:00",
            jsonb: { a: [1, null] },
            json: "text",
            bytea: Buffer.from([0x00, 0xff]),
            uuid: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            texts: ["a", null, 'c,"d"'],
            integers: [1, 2],
            booleans: [true],
            timestamps: [new Date("2026-01-31T00:00:00Z")],
          },
        ]);
      });

      test("are unchanged after a round trip as parameters", async () => {
        const instant = new Date("2026-07-01T23:59:59.999Z");
        const list = [{ a: "'" }, ["b"]];
        const { rows } = await sql`select
          ${instant}::timestamptz as "timestamptz", ${JSON.stringify(list)}::jsonb as "jsonb",
          ${{ a: 1 }}::jsonb as "object", ${Number.MAX_SAFE_INTEGER}::bigint as "bigint", ${0.1}::double precision as "double",
          ${true}::boolean as "boolean", ${Buffer.from([0, 255])}::bytea as "bytea", ${["x", "y,"]}::text[] as "texts",
          ${7}::text as "number as text", ${null}::integer as "null"`.execute(db);
        expect(rows).toEqual([
          {
            timestamptz: instant,
            jsonb: list,
            object: { a: 1 },
            bigint: Number.MAX_SAFE_INTEGER,
            double: 0.1,
            boolean: true,
            bytea: Buffer.from([0, 255]),
            texts: ["x", "y,"],
            "number as text": "7",
            null: null,
          },
        ]);
      });

      test("throw if a bigint would lose precision, and the connection stays usable", async () => {
        await expect(sql`select 9007199254740993::bigint as value`.execute(db)).rejects.toThrow(RangeError);
        const { rows } = await sql`select -9007199254740991::bigint as value`.execute(db);
        expect(rows).toEqual([{ value: -9007199254740991 }]);
      });

      test("are in UTC", async () => {
        const { rows } =
          await sql`select to_char('2026-01-31 23:30:00-02'::timestamptz, 'DD HH24') as local`.execute(db);
        expect(rows).toEqual([{ local: "01 01" }]);
      });
    });

    describe("statements", () => {
      test("report how many rows they changed", async () => {
        const table = await createTable();
        const rows = [1, 2, 3].map((id) => ({ id, name: "a" }));
        expect((await db.insertInto(table).values(rows).executeTakeFirst()).numInsertedOrUpdatedRows).toBe(
          3n,
        );
        const updated = await db.updateTable(table).set({ name: "b" }).where("id", "<", 3).executeTakeFirst();
        expect(updated.numUpdatedRows).toBe(2n);
        const none = await db.deleteFrom(table).where("id", "=", 9).executeTakeFirst();
        expect(none.numDeletedRows).toBe(0n);
        const returned = await db.deleteFrom(table).where("id", "=", 3).returning("name").execute();
        expect(returned).toEqual([{ name: "a" }]);
      });

      test("fail with PostgreSQL's code and the name of the constraint", async () => {
        const table = await createTable();
        const insert = () => db.insertInto(table).values({ id: 1, name: "a" }).execute();
        await insert();
        await expect(insert()).rejects.toMatchObject({
          code: "23505",
          constraint: `${table}_pkey`,
          table,
        });
        await expect(sql`select ${"x"}::integer`.execute(db)).rejects.toMatchObject({ code: "22P02" });
      });
    });

    describe("prepared statements", () => {
      test("return current data on each run, even if the table changes in the meantime", async () => {
        const table = await createTable();
        const named = async (id: number) =>
          (
            await sql<{ name: string; at: Date; twice: string[] }>`${prepared}
              select name, ${TIMESTAMP}::timestamptz as at, array[name, ${"é"}::text] as twice
              from ${sql.table(table)} where id = ${id}`.execute(db)
          ).rows;
        // PostgreSQL decides on the sixth run whether to reuse a plan.
        for (let run = 1; run <= 8; run++) {
          await db
            .insertInto(table)
            .values({ id: run, name: `name ${run}` })
            .execute();
          if (run === 4) await sql`alter table ${sql.table(table)} add column more text`.execute(db);
          if (run === 7) await sql`create index on ${sql.table(table)} (name)`.execute(db);
          const name = `name ${run}`;
          expect(await named(run)).toEqual([{ name, at: TIMESTAMP, twice: [name, "é"] }]);
          expect(await named(-run)).toEqual([]);
        }
      });

      test("that fail report PostgreSQL's code, and work with other values", async () => {
        const divide = async (by: number | null) =>
          (await sql<{ result: number | null }>`${prepared} select 6 / ${by}::integer as result`.execute(db))
            .rows;
        expect(await divide(3)).toEqual([{ result: 2 }]);
        for (let run = 0; run < 3; run++) {
          await expect(divide(0)).rejects.toMatchObject({ code: "22012" });
          expect(await divide(2)).toEqual([{ result: 3 }]);
        }
        expect(await divide(null)).toEqual([{ result: null }]);
        const malformed = sql`${prepared} select nonsense`;
        await expect(malformed.execute(db)).rejects.toMatchObject({ code: "42703" });
        await expect(malformed.execute(db)).rejects.toMatchObject({ code: "42703" });
        expect(await divide(1)).toEqual([{ result: 6 }]);
      });

      test("take part in a transaction", async () => {
        const table = await createTable();
        const count = async (on: Kysely<Schema>) =>
          (await sql<{ count: number }>`${prepared} select count(*) from ${sql.table(table)}`.execute(on))
            .rows;
        await db.transaction().execute(async (tx) => {
          await tx.insertInto(table).values({ id: 1, name: "a" }).execute();
          expect(await count(tx)).toEqual([{ count: 1 }]);
        });
        await expect(
          db.transaction().execute(async (tx) => {
            await tx.insertInto(table).values({ id: 2, name: "b" }).execute();
            expect(await count(tx)).toEqual([{ count: 2 }]);
            throw new Error("given up");
          }),
        ).rejects.toThrow("given up");
        expect(await count(db)).toEqual([{ count: 1 }]);
      });
    });

    describe("transactions", () => {
      test("commit all or nothing", async () => {
        const table = await createTable();
        await db.transaction().execute(async (tx) => {
          await tx.insertInto(table).values({ id: 1, name: "kept" }).execute();
        });
        const undone = db.transaction().execute(async (tx) => {
          await tx.insertInto(table).values({ id: 2, name: "undone" }).execute();
          throw new Error("no");
        });
        await expect(undone).rejects.toThrow("no");
        expect(await namesIn(table)).toEqual(["kept"]);
      });

      test("cannot commit after a statement failed, even if the error was caught", async () => {
        const table = await createTable();
        const swallowed = db.transaction().execute(async (tx) => {
          await tx.insertInto(table).values({ id: 1, name: "lost" }).execute();
          await sql`select 1 / 0`.execute(tx).catch(() => {});
        });
        await expect(swallowed).rejects.toThrow();
        expect(await namesIn(table)).toEqual([]);
      });

      test("continue after a savepoint was rolled back", async () => {
        const table = await createTable();
        const tx = await db.startTransaction().execute();
        await tx.insertInto(table).values({ id: 1, name: "kept" }).execute();
        const inner = await tx.savepoint("inner").execute();
        await inner.insertInto(table).values({ id: 2, name: "undone" }).execute();
        await inner.rollbackToSavepoint("inner").execute();
        await tx.commit().execute();
        expect(await namesIn(table)).toEqual(["kept"]);
      });

      test("are isolated from concurrent changes", async () => {
        const table = await createTable();
        const begun = Promise.withResolvers<void>();
        const undone = db.transaction().execute(async (tx) => {
          await tx.insertInto(table).values({ id: 1, name: "undone" }).execute();
          begun.resolve();
          await delay(50);
          throw new Error("no");
        });
        await begun.promise;
        const others = [2, 3, 4].map((id) =>
          id === 4
            ? db.transaction().execute((tx) => tx.insertInto(table).values({ id, name: "mine" }).execute())
            : db.insertInto(table).values({ id, name: "mine" }).execute(),
        );
        await expect(undone).rejects.toThrow("no");
        await Promise.all(others);
        expect(await namesIn(table)).toEqual(["mine", "mine", "mine"]);
      });

      test("of many concurrent callers run one after another without loss", async () => {
        const table = await createTable();
        await db.insertInto(table).values({ id: 0, name: "0" }).execute();
        const increment = () =>
          db.transaction().execute(async (tx) => {
            const row = await tx.selectFrom(table).selectAll().forUpdate().executeTakeFirstOrThrow();
            await tx
              .updateTable(table)
              .set({ name: String(Number(row.name) + 1) })
              .execute();
          });
        await Promise.all(Array.from({ length: 20 }, increment));
        expect(await namesIn(table)).toEqual(["20"]);
      });
    });

    describe("a query outside the transaction, from inside it", () => {
      const refused = { code: "query_outside_transaction" };

      test("is rejected immediately, and the transaction can still commit", async () => {
        const table = await createTable();
        await db.transaction().execute(async (tx) => {
          await expect(db.selectFrom(table).selectAll().execute()).rejects.toMatchObject(refused);
          await expect(db.transaction().execute(async () => {})).rejects.toMatchObject(refused);
          await expect(db.startTransaction().execute()).rejects.toMatchObject(refused);
          await expect(database.check()).rejects.toMatchObject(refused);
          await tx.insertInto(table).values({ id: 1, name: "kept" }).execute();
        });
        expect(await namesIn(table)).toEqual(["kept"]);
      });

      test("is rejected with an isolation level and inside a reserved connection too", async () => {
        await db
          .transaction()
          .setIsolationLevel("serializable")
          .execute(async () => {
            await expect(database.check()).rejects.toMatchObject(refused);
          });
        await db.connection().execute(async (connection) => {
          await expect(database.check()).rejects.toMatchObject(refused);
          await connection.transaction().execute((tx) => sql`select 1`.execute(tx));
        });
      });

      test("is accepted once the transaction has ended", async () => {
        const ended = Promise.withResolvers<void>();
        const later = await db
          .transaction()
          .execute(async () => ({ check: ended.promise.then(() => database.check()) }));
        ended.resolve();
        await later.check;
      });
    });

    describe("the queue in the database", () => {
      let boss: PgBoss;
      const schema = `boss_${randomBytes(6).toString("hex")}`;
      const errors: unknown[] = [];
      beforeAll(async () => {
        boss = new PgBoss({
          ...database.boss,
          schema,
          useListenNotify: true,
          superviseIntervalSeconds: 1,
          monitorIntervalSeconds: 1,
          monitorVacuum: false,
          schedule: false,
        });
        boss.on("error", (error) => errors.push(error));
        boss.on("warning", (warning) => errors.push(warning));
        await boss.start();
      });
      afterAll(async () => {
        await boss.stop({ graceful: true, timeout: 5_000 });
        await sql`drop schema ${sql.id(schema)} cascade`.execute(db);
        expect(errors).toEqual([]);
      });

      async function createQueue(): Promise<string> {
        const queue = `queue_${randomBytes(6).toString("hex")}`;
        await boss.createQueue(queue, { heartbeatSeconds: 10, retryLimit: 5, retryDelay: 0, notify: true });
        // Fill pg-boss's cache now. Otherwise, pg-boss would query outside the transaction.
        await boss.findJobs(queue, { id: randomUUID() });
        return queue;
      }

      test("takes a job if and only if the transaction commits", async () => {
        const queue = await createQueue();
        await db.transaction().execute(async (tx) => {
          await boss.send(queue, { name: "kept" }, { db: fromKysely(tx) });
        });
        const undone = db.transaction().execute(async (tx) => {
          await boss.send(queue, { name: "undone" }, { db: fromKysely(tx) });
          throw new Error("no");
        });
        await expect(undone).rejects.toThrow("no");
        const jobs = await boss.findJobs<{ name: string }>(queue);
        expect(jobs.map((job) => job.data.name)).toEqual(["kept"]);
      });

      test("wakes a worker that polls once an hour when the transaction commits", async () => {
        const queue = await createQueue();
        const received = Promise.withResolvers<unknown>();
        await boss.work(
          queue,
          { pollingIntervalSeconds: 3600, notifyPollingIntervalSeconds: 3600 },
          async ([job]) => received.resolve(job?.data),
        );
        await delay(200);
        await db.transaction().execute(async (tx) => {
          await boss.send(queue, { name: "woken" }, { db: fromKysely(tx) });
        });
        expect(await received.promise).toEqual({ name: "woken" });
        await boss.offWork(queue);
      });

      test("gives a job to another worker when the heartbeat of the first one stops", async () => {
        const queue = await createQueue();
        await boss.send(queue, { name: "orphan" });
        const [held] = await boss.fetch(queue);
        await sql`update ${sql.id(schema, "job")} set heartbeat_on = now() - interval '1 minute'
          where id = ${held?.id}`.execute(db);
        const received = Promise.withResolvers<string | undefined>();
        await boss.work(
          queue,
          { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 },
          async ([job]) => received.resolve(job?.id),
        );
        expect(await received.promise).toBe(held?.id);
        await boss.offWork(queue);
      });
    });
  });
}
