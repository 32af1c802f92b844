import { setTimeout as sleep } from "node:timers/promises";
import { isOutageCode } from "../outages.ts";

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/**
 * Keeps a process from taking one waiting transcription after the other, only to find each time that the storage
 * is away or its own disk full: after an attempt that ended so, it takes nothing for a while, each time longer.
 * Those that wait stay as they are, for this process later and for others meanwhile.
 */
export class OutagePause {
  #lengthMs = 0;
  #until = 0;

  /** @param reason the code that the attempt ended with, null where it ended well */
  note(reason: string | null): void {
    const now = performance.now();
    if (reason === null || !isOutageCode(reason)) this.#lengthMs = 0;
    // Those that run beside each other meet the same outage.
    else if (now >= this.#until) {
      this.#lengthMs = this.#lengthMs === 0 ? FIRST_MS : Math.min(this.#lengthMs * 2, LONGEST_MS);
      this.#until = now + this.#lengthMs;
    }
  }

  /** @throws the signal's reason */
  async untilOver(signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#until - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs, undefined, { signal });
    }
  }
}
