import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isOutage, logLevelOf } from "./outages.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** After that, what is waited with is made again one day; others may need the worker for what they can do. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Does again what fails because something that it needs is away, for what was made before is dear: at the end of
 * an attempt, a whole recording has been listened to.
 * @throws what the last try threw; where the signal is aborted, its reason
 */
export async function patiently<T>(
  work: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || performance.now() + pauseMs > deadline) throw error;
      log[logLevelOf(error, "warn")](
        { err: error, code: error.code, pauseMs },
        "what this needs is away; it waits",
      );
      signal.throwIfAborted();
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

/**
 * Makes the move that ends an attempt, however long the database is away: a worker that does not make it is taken
 * for dead, and without the database there is nothing else to do.
 * @throws what the move throws; where the process is to end, the signal's reason
 */
export async function lastly<T>(
  attempt: { shutdown: AbortSignal; log: Logger; metOutage: boolean },
  move: () => Promise<T>,
): Promise<T> {
  const noting = async () => {
    try {
      return await move();
    } catch (error) {
      attempt.metOutage ||= isOutage(error);
      throw error;
    }
  };
  return await patiently(noting, { signal: attempt.shutdown, log: attempt.log }, Number.POSITIVE_INFINITY);
}
