import { once } from "node:events";
import { createServer } from "node:net";
import { sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { countWorkers, openSession } from "../../src/db/session.ts";
import { temporaryFolder, until } from "../support/service.ts";
import { makeTestDatabase } from "../support/test-database.ts";

test("a failed connection only makes opening the session fail", async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", note);
  try {
    const { port } = server.address() as { port: number };
    const databaseUrl = `postgres://user@127.0.0.1:${port}/none`;
    await expect(openSession({ databaseUrl, log: pino({ level: "silent" }) })).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of others) process.on("uncaughtException", listener);
  }
  expect(uncaught).toEqual([]);
});

test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
  "concurrent lock requests run one after another (skipped without TEST_DATABASE_URL)",
  async () => {
    let atOnce = 0;
    let most = 0;
    const { query } = pg.Client.prototype as unknown as { query(...args: unknown[]): Promise<unknown> };
    const watched = vi.spyOn(pg.Client.prototype as unknown as { query: typeof query }, "query");
    watched.mockImplementation(async function (this: unknown, ...args) {
      most = Math.max(most, ++atOnce);
      try {
        return await query.apply(this, args);
      } finally {
        atOnce--;
      }
    });
    onTestFinished(() => watched.mockRestore());
    const session = await openSession({
      databaseUrl: process.env.TEST_DATABASE_URL!,
      log: pino({ level: "silent" }),
    });
    const names = Array.from({ length: 20 }, (_, index) => `session-test-${process.pid}-${index}`);
    const taken = await Promise.all(names.map((name) => session.tryLock(name)));
    await Promise.all(names.map((name) => session.unlock(name)));
    await session.close();
    expect(taken).toEqual(names.map(() => true));
    expect(most).toBe(1);
  },
);

test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
  "workers are counted while they are connected, also after a reconnect (skipped without TEST_DATABASE_URL)",
  async () => {
    const databaseUrl = await makeTestDatabase(process.env.TEST_DATABASE_URL!, `workers_${process.pid}`);
    const log = pino({ level: "silent" });
    const database = await openDatabase<Schema>({ databaseUrl, folder: await temporaryFolder(), log });
    onTestFinished(() => database.close());
    const count = () => countWorkers(database.kysely);

    const api = await openSession({ databaseUrl, log });
    onTestFinished(() => api.close());
    expect(await count()).toBe(0);
    const workers = [
      await openSession({ databaseUrl, log, isWorker: true }),
      await openSession({ databaseUrl, log, isWorker: true }),
    ];
    expect(await count()).toBe(2);

    const lost = new Promise<void>((resolve) => workers[0]!.onLost(resolve));
    await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and mode = 'ShareLock'
        and database = (select oid from pg_database where datname = current_database())
    `.execute(database.kysely);
    await lost;
    await until(async () => (await count()) === 2);

    for (const worker of workers) await worker.close();
    await until(async () => (await count()) === 0);
  },
);
