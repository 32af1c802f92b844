import { sql } from "kysely";
import type { Logger } from "pino";
import type { Clock } from "../lib/clock.ts";
import type { Db } from "./schema.ts";

const ASK_EVERY_MS = 30_000;
/** What came back later than this tells the time no better than the machine does between two answers. */
const USELESS_AFTER_MS = 2_000;

export interface DatabaseClock extends Clock {
  stop(): void;
}

/**
 * The database's time, for a service of several processes: what one of them writes (when a job is due, until when
 * an address holds, when a webhook was signed) is compared with another's time and with the receivers'. A machine
 * whose clock is wrong, or is put right meanwhile, changes nothing; between two answers the time goes on with
 * what counts from no date.
 * @throws where the database does not answer at first
 */
export async function openDatabaseClock({
  db,
  log,
  askEveryMs = ASK_EVERY_MS,
}: {
  db: Db;
  log: Logger;
  /** Tests that wait for it make it short. */
  askEveryMs?: number;
}): Promise<DatabaseClock> {
  /** In milliseconds since 1970, when `performance.now()` was 0. */
  let zero: number | null = null;
  const ask = async () => {
    const askedAt = performance.now();
    const {
      rows: [row],
    } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(
      db,
    );
    const answeredAt = performance.now();
    // As in Cristian's algorithm: it was told in the middle of the way there and back.
    if (zero === null || answeredAt - askedAt < USELESS_AFTER_MS) zero = row!.ms - (askedAt + answeredAt) / 2;
  };
  await ask();
  const timer = setInterval(() => {
    // While the database is away nothing is written either; whoever watches it tells so.
    ask().catch((error) => log.debug({ err: error }, "the database could not be asked for its time"));
  }, askEveryMs).unref();
  return {
    now: () => new Date(zero! + performance.now()),
    stop: () => clearInterval(timer),
  };
}
