/** Maximum fraction of the database's time that the query may take: a slow query runs less often. */
const MOST_OF_THE_TIME = 0.05;

export interface LookedUpOptions<T> {
  look: () => Promise<T>;
  /** How long a value is reused before it is queried again. */
  holdMs: number;
  /** How long a caller waits for a query. */
  patienceMs: number;
  /** Maximum age of a returned value; a query that takes longer is abandoned. */
  staleMs: number;
  onError: (error: unknown) => void;
}

/**
 * Caches an expensive value for scrapes, which must always be fast. At most one query runs at a time, and no caller
 * waits longer than `patienceMs`. If the query fails or hangs, callers get the last value for a while, then none.
 */
export class LookedUp<T> {
  readonly #options: LookedUpOptions<T>;
  #known: { value: T; at: number } | null = null;
  #looking: { ended: Promise<void>; since: number } | null = null;
  #lookAgainAt = Number.NEGATIVE_INFINITY;
  #lastFailed = false;

  constructor(options: LookedUpOptions<T>) {
    this.#options = options;
  }

  async get(): Promise<{ value: T | null; failing: boolean }> {
    const { patienceMs, staleMs } = this.#options;
    const now = performance.now();
    const stuck = this.#looking !== null && now - this.#looking.since > staleMs;
    if ((this.#looking === null && now >= this.#lookAgainAt) || stuck) this.#begin();
    let late = false;
    if (this.#looking !== null) {
      let patience: NodeJS.Timeout | undefined;
      const impatient = new Promise<void>((resolve) => {
        patience = setTimeout(() => {
          late = true;
          resolve();
        }, patienceMs);
      });
      await Promise.race([this.#looking.ended, impatient]);
      clearTimeout(patience);
    }
    const fresh = this.#known !== null && performance.now() - this.#known.at <= staleMs;
    return { value: fresh ? this.#known!.value : null, failing: late || this.#lastFailed };
  }

  #begin(): void {
    const since = performance.now();
    const looking = { ended: Promise.resolve(), since };
    looking.ended = this.#look(since).finally(() => {
      if (this.#looking === looking) this.#looking = null;
    });
    this.#looking = looking;
  }

  async #look(since: number): Promise<void> {
    const { look, holdMs, onError } = this.#options;
    try {
      const value = await look();
      const now = performance.now();
      this.#known = { value, at: now };
      this.#lastFailed = false;
      this.#lookAgainAt = since + Math.max(holdMs, (now - since) / MOST_OF_THE_TIME);
    } catch (error) {
      this.#lastFailed = true;
      this.#lookAgainAt = since + holdMs;
      onError(error);
    }
  }
}
