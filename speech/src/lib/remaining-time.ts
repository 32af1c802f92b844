/** Time constant of the average: about a minute, because languages and models change the speed within a recording. */
const MEMORY_SECONDS = 60;
/** Before this much work, the speed is dominated by opening files and models. */
const LEAST_WORK_SECONDS = 1;

/** Estimates the remaining time from the speed so far. */
export class RemainingTime {
  #last: { done: number; atSeconds: number } | null = null;
  #doneSeconds = 0;
  #workSeconds = 0;

  /** Starts measuring at this position, because reaching it took different work. */
  beginAt(done: number, nowMs: number): void {
    this.#last = { done, atSeconds: nowMs / 1000 };
  }

  /**
   * @param done Seconds of the media that are done.
   * @param duration Seconds of the media; null if unknown.
   * @param nowMs A monotonic clock.
   * @returns Seconds; null if no estimate is possible yet.
   */
  after(done: number, duration: number | null, nowMs: number): number | null {
    const atSeconds = nowMs / 1000;
    if (this.#last !== null) {
      const worked = atSeconds - this.#last.atSeconds;
      const kept = Math.exp(-worked / MEMORY_SECONDS);
      this.#doneSeconds = this.#doneSeconds * kept + Math.max(0, done - this.#last.done);
      this.#workSeconds = this.#workSeconds * kept + worked;
    }
    this.#last = { done, atSeconds };
    if (duration === null) return null;
    const left = Math.max(0, duration - done);
    if (left === 0) return 0;
    if (this.#workSeconds < LEAST_WORK_SECONDS || this.#doneSeconds === 0) return null;
    return Math.round((left * this.#workSeconds) / this.#doneSeconds);
  }
}
