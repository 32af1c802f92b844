import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maintain, startMaintenance } from "../../src/db/embedded/maintenance.ts";
import { Mutex } from "../../src/db/embedded/mutex.ts";
import { startPglite } from "../../src/db/embedded/start-pglite.ts";

describe("maintenance of the embedded database", () => {
  let folder: string;
  let pglite: PGlite;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "subtext-database-"));
    pglite = await startPglite(folder, { onLog: () => {}, onCrash: () => {} });
  });
  afterAll(async () => {
    await pglite.close();
    await rm(folder, { recursive: true });
  });

  const logSegments = async () =>
    (await readdir(join(folder, "pg_wal"))).filter((name) => /^[0-9A-F]{24}$/.test(name)).length;
  const writeLog = async (megabytes: number) => {
    for (let written = 0; written < megabytes; written += 1) {
      await pglite.query("select pg_logical_emit_message(true, 'filler', repeat('x', 1000000))");
    }
  };
  const lastCheckpoint = async () => {
    const { rows } = await pglite.query<{ redo_lsn: string }>("select redo_lsn from pg_control_checkpoint()");
    return rows[0]!.redo_lsn;
  };
  const deadRowsOf = async (table: string) => {
    const { rows } = await pglite.query<{ dead: number }>(
      "select n_dead_tup as dead from pg_stat_all_tables where relname = $1",
      [table],
    );
    return rows[0]!.dead;
  };
  const untilStatisticsShow = async (table: string, isIt: (dead: number) => boolean) => {
    while (!isIt(await deadRowsOf(table))) await delay(100);
  };

  test("truncates the write-ahead log once it has grown, and keeps it small from then on", async () => {
    await writeLog(40);
    expect(await logSegments()).toBeGreaterThanOrEqual(10);
    for (let round = 0; round < 3; round += 1) {
      await maintain(pglite, new Mutex());
      expect(await logSegments()).toBeLessThanOrEqual(8);
      await writeLog(20);
    }
  });

  test("performs no checkpoint while the write-ahead log has grown little", async () => {
    await maintain(pglite, new Mutex(), 0);
    const before = await lastCheckpoint();
    await writeLog(1);
    await maintain(pglite, new Mutex());
    expect(await lastCheckpoint()).toBe(before);
    await maintain(pglite, new Mutex(), 0);
    expect(await lastCheckpoint()).not.toBe(before);
  });

  test("vacuums a table with many dead rows, and no others", async () => {
    for (const table of ["worn", "Fresh one"]) {
      await pglite.exec(`create table "${table}" (id integer primary key);
        insert into "${table}" select generate_series(1, 500)`);
    }
    await pglite.exec(`update worn set id = id + 1000; update "Fresh one" set id = 1001 where id = 1`);
    await untilStatisticsShow("worn", (dead) => dead === 500);
    await untilStatisticsShow("Fresh one", (dead) => dead === 1);
    await maintain(pglite, new Mutex());
    await untilStatisticsShow("worn", (dead) => dead === 0);
    expect(await deadRowsOf("Fresh one")).toBe(1);
    await pglite.exec(`update "Fresh one" set id = id + 2000`);
    await untilStatisticsShow("Fresh one", (dead) => dead > 500);
    await maintain(pglite, new Mutex());
    await untilStatisticsShow("Fresh one", (dead) => dead === 0);
  });

  test("does not disturb a busy database, but runs eventually", async () => {
    const mutex = new Mutex();
    const errors: unknown[] = [];
    const start = (maxSkips: number) =>
      startMaintenance({
        pglite,
        mutex,
        intervalMs: 10,
        maxSkips,
        isNeeded: () => true,
        onError: (error) => errors.push(error),
      });
    let working = true;
    const work = async () => {
      while (working) await mutex.run(() => delay(5));
    };
    await writeLog(20);
    const before = await lastCheckpoint();
    const workers = [work(), work()];

    const patient = start(Number.POSITIVE_INFINITY);
    await delay(200);
    await patient.stop();
    expect(await lastCheckpoint()).toBe(before);

    const impatient = start(5);
    while ((await lastCheckpoint()) === before) await delay(10);
    await impatient.stop();
    working = false;
    await Promise.all(workers);
    expect(errors).toEqual([]);
  });
});
