/** Slow queries run less often, so that they take at most this fraction of the time. */
const MAX_TIME_SHARE = 0.05;

export interface CachedQueryOptions<T> {
  query: () => Promise<T>;
  cacheMs: number;
  /** Maximum time that a caller waits for the query. */
  timeoutMs: number;
  /** Maximum age of a returned value. A query that takes longer is abandoned. */
  staleMs: number;
  onError: (error: unknown) => void;
}

/**
 * Caches the result of an expensive query, so that scrapes are always fast. At most one query runs at a time, and no
 * caller waits longer than `timeoutMs`. If the query fails or hangs, callers get the last value until it is stale, then
 * null.
 */
export class CachedQuery<T> {
  readonly #options: CachedQueryOptions<T>;
  #known: { value: T; at: number } | null = null;
  #running: { ended: Promise<void>; since: number } | null = null;
  #nextQueryAt = Number.NEGATIVE_INFINITY;
  #lastFailed = false;

  constructor(options: CachedQueryOptions<T>) {
    this.#options = options;
  }

  async get(): Promise<{ value: T | null; failing: boolean }> {
    const { timeoutMs, staleMs } = this.#options;
    const now = performance.now();
    const stuck = this.#running !== null && now - this.#running.since > staleMs;
    if ((this.#running === null && now >= this.#nextQueryAt) || stuck) this.#begin();
    let late = false;
    if (this.#running !== null) {
      let timer: NodeJS.Timeout | undefined;
      const timedOut = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          late = true;
          resolve();
        }, timeoutMs);
      });
      await Promise.race([this.#running.ended, timedOut]);
      clearTimeout(timer);
    }
    const fresh = this.#known !== null && performance.now() - this.#known.at <= staleMs;
    return { value: fresh ? this.#known!.value : null, failing: late || this.#lastFailed };
  }

  #begin(): void {
    const since = performance.now();
    const running = { ended: Promise.resolve(), since };
    running.ended = this.#run(since).finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
  }

  async #run(since: number): Promise<void> {
    const { query, cacheMs, onError } = this.#options;
    try {
      const value = await query();
      const now = performance.now();
      this.#known = { value, at: now };
      this.#lastFailed = false;
      this.#nextQueryAt = since + Math.max(cacheMs, (now - since) / MAX_TIME_SHARE);
    } catch (error) {
      this.#lastFailed = true;
      this.#nextQueryAt = since + cacheMs;
      onError(error);
    }
  }
}
