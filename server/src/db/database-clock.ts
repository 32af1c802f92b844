import { sql } from "kysely";
import type { Logger } from "pino";
import type { Clock } from "../lib/clock.ts";
import type { Db } from "./schema.ts";

const POLL_INTERVAL_MS = 30_000;
/** Slower responses are ignored, because the previous reading, advanced by the monotonic clock, is more accurate. */
const MAX_ROUND_TRIP_MS = 2_000;

export interface DatabaseClock extends Clock {
  stop(): void;
}

/**
 * Opens a clock that follows the database's time. Processes compare times that other processes wrote, such as when a
 * job is due, so an incorrect clock on one machine must not matter. Between queries, the monotonic clock advances the
 * time.
 * @throws if the first query fails
 */
export async function openDatabaseClock({
  db,
  log,
  pollIntervalMs = POLL_INTERVAL_MS,
}: {
  db: Db;
  log: Logger;
  pollIntervalMs?: number;
}): Promise<DatabaseClock> {
  /** Unix time in milliseconds when `performance.now()` was 0. */
  let monotonicOrigin: number | null = null;
  const synchronize = async () => {
    const sentAt = performance.now();
    const {
      rows: [row],
    } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
      db,
    );
    const receivedAt = performance.now();
    // Cristian's algorithm assumes that the database read its clock in the middle of the round trip.
    if (monotonicOrigin === null || receivedAt - sentAt < MAX_ROUND_TRIP_MS)
      monotonicOrigin = row!.ms - (sentAt + receivedAt) / 2;
  };
  await synchronize();
  const timer = setInterval(() => {
    // The database watch already reports outages.
    synchronize().catch((error) => log.debug({ err: error }, "could not query the database's time"));
  }, pollIntervalMs).unref();
  return {
    now: () => new Date(monotonicOrigin! + performance.now()),
    stop: () => clearInterval(timer),
  };
}
