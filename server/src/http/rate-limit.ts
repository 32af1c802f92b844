import type { Clock } from "../clock.ts";

export interface RateLimit {
  /** Requests that come back each second. */
  perSecond: number;
  /** Requests that may come at once after a rest. */
  burst: number;
}

export interface RateLimitDecision {
  allowed: boolean;
  /** Header fields of the response, after draft-ietf-httpapi-ratelimit-headers. */
  headers: Record<string, string>;
}

/**
 * A token bucket for each key, in this process: behind several, a key has as many times its rate at most. A
 * count that all processes share would cost every read a write.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Counts a request, unless it is one too many. */
  take(key: string): RateLimitDecision {
    const now = this.#clock.now().getTime();
    const tokens = this.#tokensOf(key, now);
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    // Least recently used first, so that full buckets can be forgotten from the front.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: left, at: now });
    this.#forgetFull(now);
    return { allowed, headers: this.#describe(left, allowed) };
  }

  /** Tells how a key stands, for a request that does not count. */
  look(key: string): RateLimitDecision {
    return { allowed: true, headers: this.#describe(this.#tokensOf(key, this.#clock.now().getTime()), true) };
  }

  #tokensOf(key: string, now: number): number {
    const { perSecond, burst } = this.#limit;
    const bucket = this.#buckets.get(key);
    if (!bucket) return burst;
    return Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
  }

  #describe(left: number, allowed: boolean): Record<string, string> {
    const { perSecond, burst } = this.#limit;
    const windowSeconds = Math.ceil(burst / perSecond);
    const fullInSeconds = Math.ceil((burst - left) / perSecond);
    return {
      "ratelimit-policy": `"per-key";q=${burst};w=${windowSeconds}`,
      ratelimit: `"per-key";r=${Math.floor(left)};t=${fullInSeconds}`,
      ...(!allowed && { "retry-after": String(Math.ceil((1 - left) / perSecond)) }),
    };
  }

  #forgetFull(now: number): void {
    const { perSecond, burst } = this.#limit;
    for (const [key, bucket] of this.#buckets) {
      if (bucket.tokens + ((now - bucket.at) / 1000) * perSecond < burst) break;
      this.#buckets.delete(key);
    }
  }
}
