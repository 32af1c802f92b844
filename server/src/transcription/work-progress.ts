import type { TranscribeProgress } from "@subtext/speech/transcript";

/**
 * Computes the progress of a transcription from the estimated remaining time: 0.5 after half of the estimated total
 * time. It never decreases.
 */
export class WorkProgress {
  #start: { atMs: number; share: number } | null = null;
  #share = 0;

  /**
   * @param nowMs from a monotonic clock
   * @returns 0 to 1; while the remaining time is unknown, the share of earlier attempts
   */
  after({ done, duration, remainingSeconds }: TranscribeProgress, nowMs: number): number {
    if (this.#start === null) {
      this.#share = duration ? Math.min(done / duration, 1) : 0;
      this.#start = { atMs: nowMs, share: this.#share };
    }
    if (remainingSeconds !== null) {
      const { atMs, share } = this.#start;
      const workedSeconds = (nowMs - atMs) / 1000;
      const ownShare = remainingSeconds === 0 ? 1 : workedSeconds / (workedSeconds + remainingSeconds);
      this.#share = Math.max(this.#share, share + (1 - share) * ownShare);
    }
    return this.#share;
  }
}
