import { setTimeout as sleep } from "node:timers/promises";
import { isOutageCode } from "../lib/outages.ts";

const FIRST_MS = 5_000;
const MAX_MS = 60_000;

/**
 * Keeps a process from claiming one transcription after another while the storage is unavailable or its own disk is
 * full. After outages in two different transcriptions, the process claims nothing for a while, and after each further
 * outage for longer, until an attempt ends without one. Before the first pause, repeated outages of one transcription do
 * not count, because it may be the cause itself.
 */
export class OutagePause {
  #lengthMs = 0;
  #until = 0;
  /** Transcription of the last attempt, if that ended in an outage. */
  #suspect: string | null = null;

  /** @param attempt an ended attempt. `reason` is the failure code, or null if it succeeded */
  record({ transcriptionId, reason }: { transcriptionId: string; reason: string | null }): void {
    if (reason === null || !isOutageCode(reason)) {
      this.#lengthMs = 0;
      this.#suspect = null;
      return;
    }
    const isFirst = this.#suspect === null || this.#suspect === transcriptionId;
    this.#suspect = transcriptionId;
    const now = performance.now();
    // An outage counts only once, although all concurrent attempts fail.
    if ((isFirst && this.#lengthMs === 0) || now < this.#until) return;
    this.#lengthMs = this.#lengthMs === 0 ? FIRST_MS : Math.min(this.#lengthMs * 2, MAX_MS);
    this.#until = now + this.#lengthMs;
  }

  /**
   * Waits until the pause is over.
   * @throws an `AbortError` if the signal is aborted
   */
  async untilOver(signal: AbortSignal): Promise<void> {
    for (;;) {
      const leftMs = this.#until - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs, undefined, { signal });
    }
  }
}
