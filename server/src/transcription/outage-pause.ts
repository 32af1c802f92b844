import { setTimeout as sleep } from "node:timers/promises";
import { isOutageCode } from "../lib/outages.ts";

const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/**
 * Prevents a process from claiming one transcription after the other while the storage is unavailable or its own disk
 * is full. If attempts at two different transcriptions end this way, it claims nothing for a while, longer each time. A
 * single transcription may itself be the cause, and does not delay the others.
 */
export class OutagePause {
  #lengthMs = 0;
  #until = 0;
  /** The transcription whose attempt last met an outage; null after an attempt without one. */
  #suspect: string | null = null;

  /** @param attempt one that has ended; its `reason` is the failure code, null if it succeeded */
  note({ transcriptionId, reason }: { transcriptionId: string; reason: string | null }): void {
    if (reason === null || !isOutageCode(reason)) {
      this.#lengthMs = 0;
      this.#suspect = null;
      return;
    }
    const isFirst = this.#suspect === null || this.#suspect === transcriptionId;
    this.#suspect = transcriptionId;
    const now = performance.now();
    // Concurrent attempts meet the same outage.
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
