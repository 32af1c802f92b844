import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { openDatabaseClock } from "../../src/db/database-clock.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { until } from "../support/service.ts";

const TWO_HOURS_MS = 2 * 3_600_000;
const log = createLog("silent");
let folder: string;
let database: Database<Schema>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-clock-"));
  const databaseUrl = process.env.TEST_DATABASE_URL ?? null;
  database = await openDatabase<Schema>({ databaseUrl, folder, log });
});

afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

test("a machine whose clock jumps forward uses the database's time", async () => {
  const clock = await openDatabaseClock({ db: database.kysely, log });
  const realNow = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: realNow + TWO_HOURS_MS });
  try {
    expect(Math.abs(clock.now().getTime() - realNow)).toBeLessThan(60_000);
  } finally {
    vi.useRealTimers();
    clock.stop();
  }
});

// The embedded database uses this process's time, so the test can move its clock.
test.skipIf(process.env.TEST_DATABASE_URL)(
  "a service follows a database whose clock jumps forward",
  async () => {
    const clock = await openDatabaseClock({ db: database.kysely, log, pollIntervalMs: 10 });
    const realNow = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: realNow + TWO_HOURS_MS });
    try {
      await until(async () => clock.now().getTime() - realNow > TWO_HOURS_MS - 60_000);
    } finally {
      vi.useRealTimers();
      clock.stop();
    }
  },
);
