/** The pace of the last minute or so counts: languages and models change it in the middle of a recording. */
const MEMORY_SECONDS = 60;
/** Before that much was worked, the pace is that of opening files and models. */
const LEAST_WORK_SECONDS = 1;

/** Foretells how long the rest of a recording takes from how long its parts took. */
export class RemainingTime {
  #last: { done: number; atSeconds: number } | null = null;
  #doneSeconds = 0;
  #workSeconds = 0;

  /** Counts from here: what was done before took other work. */
  beginAt(done: number, nowMs: number): void {
    this.#last = { done, atSeconds: nowMs / 1000 };
  }

  /**
   * @param done Seconds of the media that are done.
   * @param duration Seconds of the media; null where nobody knows.
   * @param nowMs Any clock that only goes forward.
   * @returns Seconds; null while it can not be told.
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
