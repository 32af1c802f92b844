import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds on a monotonic clock. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Ends early if the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  async sleep(milliseconds, signal) {
    // Node fires timers that are longer than this immediately.
    const longest = 2 ** 31 - 1;
    await delay(Math.min(milliseconds, longest), undefined, { signal }).catch(() => {});
  },
};
