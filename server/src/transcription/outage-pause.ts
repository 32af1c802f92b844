import { setTimeout as sleep } from "node:timers/promises";
import { isOutageCode } from "../lib/outages.ts";

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/**
 * Keeps a process from taking one waiting transcription after the other, only to find each time that the storage
 * is unavailable or its own disk full. If attempts at two different transcriptions end this way, it takes nothing for a
 * while, longer each time. A single one may be at fault itself, and does not keep the others waiting.
 */
export class OutagePause {
  #lengthMs = 0;
  #until = 0;
  /** The transcription whose attempt met an outage last; null after one that did not. */
  #suspect: string | null = null;

  /** @param attempt one that ended; its `reason` is the code of the failure, null if it succeeded */
  note({ transcriptionId, reason }: { transcriptionId: string; reason: string | null }): void {
    if (reason === null || !isOutageCode(reason)) {
      this.#lengthMs = 0;
      this.#suspect = null;
      return;
    }
    const isFirst = this.#suspect === null || this.#suspect === transcriptionId;
    this.#suspect = transcriptionId;
    const now = performance.now();
    // Those that run beside each other meet the same outage.
    if ((isFirst && this.#lengthMs === 0) || now < this.#until) return;
    this.#lengthMs = this.#lengthMs === 0 ? FIRST_MS : Math.min(this.#lengthMs * 2, LONGEST_MS);
    this.#until = now + this.#lengthMs;
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
