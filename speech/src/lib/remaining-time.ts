/** Time constant of the moving average. The speed may change within a recording, e.g. with the language. */
const AVERAGING_SECONDS = 60;
/** Earlier than this, the speed mostly reflects the time to open files and models. */
const MIN_WORK_SECONDS = 1;

export class RemainingTime {
  #last: { done: number; atSeconds: number } | null = null;
  #doneSeconds = 0;
  #workSeconds = 0;

  /** Starts measuring at this position. Earlier work had a different speed. */
  beginAt(done: number, nowMs: number): void {
    this.#last = { done, atSeconds: nowMs / 1000 };
  }

  /**
   * @param done completed seconds of the media
   * @param duration of the media, seconds; null if unknown
   * @param nowMs monotonic clock
   * @returns seconds; null if no estimate is possible yet
   */
  after(done: number, duration: number | null, nowMs: number): number | null {
    const atSeconds = nowMs / 1000;
    if (this.#last !== null) {
      const worked = atSeconds - this.#last.atSeconds;
      const kept = Math.exp(-worked / AVERAGING_SECONDS);
      this.#doneSeconds = this.#doneSeconds * kept + Math.max(0, done - this.#last.done);
      this.#workSeconds = this.#workSeconds * kept + worked;
    }
    this.#last = { done, atSeconds };
    if (duration === null) return null;
    const left = Math.max(0, duration - done);
    if (left === 0) return 0;
    if (this.#workSeconds < MIN_WORK_SECONDS || this.#doneSeconds === 0) return null;
    return Math.round((left * this.#workSeconds) / this.#doneSeconds);
  }
}
