import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isOutage, logLevelOf } from "./outages.ts";

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** Beyond this, doing the work again later costs less than occupying the worker. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Retries work during an outage, because the results it would lose are expensive: at the end of an attempt, a whole
 * recording has been transcribed.
 * @throws the error of the last try, or the signal's reason if it is aborted
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Logger },
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || performance.now() + delayMs > deadline) throw error;
      log[logLevelOf(error, "warn")]({ err: error, code: error.code, delayMs }, "unavailable; retrying");
      signal.throwIfAborted();
      await sleep(delayMs, undefined, { signal });
    }
  }
}

/**
 * Makes the state transition that ends an attempt, however long the database is unavailable: a worker that does not
 * make it counts as lost, and without the database there is nothing else to do.
 * @throws the error of the transition, or the signal's reason if the process shuts down
 */
export async function retryUntilShutdown<T>(
  attempt: { shutdown: AbortSignal; log: Logger; metOutage: boolean },
  transition: () => Promise<T>,
): Promise<T> {
  const work = async () => {
    try {
      return await transition();
    } catch (error) {
      attempt.metOutage ||= isOutage(error);
      throw error;
    }
  };
  const { shutdown: signal, log } = attempt;
  return await retryWhileUnavailable(work, { signal, log }, Number.POSITIVE_INFINITY);
}
