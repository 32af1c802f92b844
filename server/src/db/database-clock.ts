import { sql } from "kysely";
import type { Logger } from "pino";
import type { Clock } from "../lib/clock.ts";
import type { Db } from "./schema.ts";

const ASK_EVERY_MS = 30_000;
/** A slower response is less accurate than the monotonic clock since the last response. */
const USELESS_AFTER_MS = 2_000;

export interface DatabaseClock extends Clock {
  stop(): void;
}

/**
 * The database's time, for a service of several processes. Times that one process writes (when a job is due, when a URL
 * expires, when a webhook was signed) are compared with the clocks of other processes and of receivers, so a wrong or
 * adjusted clock on one machine must not matter. Between two responses, a monotonic clock advances the time.
 * @throws if the first query fails
 */
export async function openDatabaseClock({
  db,
  log,
  askEveryMs = ASK_EVERY_MS,
}: {
  db: Db;
  log: Logger;
  /** Tests pass a short interval. */
  askEveryMs?: number;
}): Promise<DatabaseClock> {
  /** The time at which `performance.now()` was 0, in milliseconds since 1970. */
  let zero: number | null = null;
  const ask = async () => {
    const askedAt = performance.now();
    const {
      rows: [row],
    } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
      db,
    );
    const answeredAt = performance.now();
    // Cristian's algorithm: assumes that the database read its clock in the middle of the round trip.
    if (zero === null || answeredAt - askedAt < USELESS_AFTER_MS) zero = row!.ms - (askedAt + answeredAt) / 2;
  };
  await ask();
  const timer = setInterval(() => {
    // During an outage nothing is written either, and the database watch reports it.
    ask().catch((error) => log.debug({ err: error }, "the database's time could not be queried"));
  }, askEveryMs).unref();
  return {
    now: () => new Date(zero! + performance.now()),
    stop: () => clearInterval(timer),
  };
}
