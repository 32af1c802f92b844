import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isOutage, logLevelOf } from "./outages.ts";

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** After this time, repeating the work later costs less than occupying the worker. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Retries work during an outage, because a failure would discard expensive results, such as a whole transcript.
 * @throws the last error; if the signal is aborted, its reason or an `AbortError`
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
 * Retries the state transition that ends an attempt until the outage ends. If the worker gave up, the attempt would
 * count as lost, and without the database the worker has nothing else to do.
 * @throws the error of the transition; if the process shuts down, the signal's reason or an `AbortError`
 */
export async function retryUntilShutdown<T>(
  attempt: { shutdown: AbortSignal; log: Logger; hadOutage: boolean },
  transition: () => Promise<T>,
): Promise<T> {
  const work = async () => {
    try {
      return await transition();
    } catch (error) {
      attempt.hadOutage ||= isOutage(error);
      throw error;
    }
  };
  const { shutdown: signal, log } = attempt;
  return await retryWhileUnavailable(work, { signal, log }, Number.POSITIVE_INFINITY);
}
