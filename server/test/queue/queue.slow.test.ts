import { randomUUID } from "node:crypto";
import { fsyncSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { PgBoss } from "pg-boss";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { openEmbedded } from "../../src/db/embedded/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import type { Schema } from "../../src/db/schema.ts";
import type { ClaimedJob } from "../../src/queue/job.ts";
import { newJobId, Queue } from "../../src/queue/queue.ts";
import { startQueueMaintenance } from "../../src/queue/queue-maintenance.ts";
import { temporaryFolder } from "../support/service.ts";

const log = pino({ level: "silent" });

/** A queue on its own embedded database. The handlers end immediately. */
async function openQueue() {
  const written = { fsyncs: 0 };
  const statements: string[] = [];
  const database = await openEmbedded<Schema>({
    folder: join(await temporaryFolder(), "database"),
    log,
    fsync(fileDescriptor) {
      written.fsyncs += 1;
      fsyncSync(fileDescriptor);
    },
  });
  await migrate(database.kysely);
  const queue = new Queue(recording(database, statements), database.kind, log);
  await queue.start();
  onTestFinished(async () => {
    await queue.stop(1_000);
    await database.close();
  });
  let next = Promise.withResolvers<ClaimedJob>();
  const options = {
    async run(job: ClaimedJob) {
      next.resolve(job);
      next = Promise.withResolvers();
    },
    concurrency: 1,
    groupConcurrency: null,
  };
  const work = () =>
    queue.work({
      transcribe: options,
      deliver: options,
      index: options,
      announce: options,
      bulk: options,
      poster: options,
    });
  return { database, queue, written, statements, work, nextJob: () => next.promise };
}

/** Options for pg-boss, and a list of the statements that it executes. */
function recording({ boss }: Database<Schema>, statements: string[]): Database<Schema>["boss"] {
  const db = boss.db!;
  return {
    ...boss,
    db: {
      ...db,
      async executeSql(statement, values) {
        statements.push(statement);
        return await db.executeSql(statement, values);
      },
    },
  };
}

const isPoll = (statement: string) => statement.includes("due_in_ms");

/** Waits until the initial polls are done and the next poll is seconds away. */
async function settle(statements: string[]): Promise<void> {
  for (let polls = -1; polls !== statements.filter(isPoll).length; await sleep(1_500))
    polls = statements.filter(isPoll).length;
}

test("a job is fetched when its transaction commits, without a poll", async () => {
  const { database, queue, statements, work, nextJob } = await openQueue();
  await work();
  await settle(statements);
  statements.length = 0;
  const id = newJobId();
  const job = nextJob();
  await database.kysely.transaction().execute((tx) => queue.send(tx, "deliver", { id, subjectId: "a" }));
  expect(await job).toMatchObject({ id, subjectId: "a", retryCount: 0 });
  expect(statements.filter(isPoll)).toEqual([]);
});

test("a delayed job is fetched when it is due, even if another process sent it", async () => {
  const { database, queue, work, nextJob } = await openQueue();
  const other = new PgBoss({ ...database.boss, supervise: false, schedule: false, migrate: false });
  await other.start();
  const theirs = randomUUID();
  await other.send("index", { subjectId: "theirs" }, { id: theirs, startAfter: 1 });
  await other.stop({ graceful: false, close: false });
  await work();
  expect(await nextJob()).toMatchObject({ id: theirs });

  const ours = newJobId();
  const job = nextJob();
  await database.kysely
    .transaction()
    .execute((tx) => queue.send(tx, "deliver", { id: ours, subjectId: "ours", delayMs: 1_000 }));
  expect(await job).toMatchObject({ id: ours });
});

test("the job of a lost worker is retried", async () => {
  const { database, work, nextJob } = await openQueue();
  const lost = new PgBoss({ ...database.boss, supervise: false, schedule: false, migrate: false });
  await lost.start();
  const id = randomUUID();
  await lost.send("transcribe", { subjectId: "a" }, { id });
  await lost.fetch("transcribe");
  await lost.stop({ graceful: false, close: false });
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where id = ${id}`.execute(
    database.kysely,
  );
  await work();
  expect(await nextJob()).toMatchObject({ id, retryCount: 1 });
});

test("nothing is written to the disk while nothing happens", async () => {
  const { database, queue, written, statements, work } = await openQueue();
  const maintenance = startQueueMaintenance({ db: database.kysely, queue, log });
  onTestFinished(() => maintenance.stop());
  await work();
  await settle(statements);
  // The database may vacuum the new tables once, within five seconds of the last write.
  await sleep(5_500);
  const before = written.fsyncs;
  await sleep(6_000);
  expect(written.fsyncs).toBe(before);
});
