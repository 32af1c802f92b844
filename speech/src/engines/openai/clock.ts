import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Ends early where the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  async sleep(milliseconds, signal) {
    // A timer for longer than this would ring at once.
    const longest = 2 ** 31 - 1;
    await delay(Math.min(milliseconds, longest), undefined, { signal }).catch(() => {});
  },
};
