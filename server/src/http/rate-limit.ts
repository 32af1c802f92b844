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

/** A token bucket for each key, in this process. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  take(key: string): RateLimitDecision {
    const { perSecond, burst } = this.#limit;
    const now = this.#clock.now().getTime();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const elapsedSeconds = Math.max(0, now - bucket.at) / 1000;
    const tokens = Math.min(burst, bucket.tokens + elapsedSeconds * perSecond);
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;

    // Least recently used first, so that full buckets can be forgotten from the front.
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: left, at: now });
    this.#forgetFull(now);

    const windowSeconds = Math.ceil(burst / perSecond);
    const fullInSeconds = Math.ceil((burst - left) / perSecond);
    return {
      allowed,
      headers: {
        "ratelimit-policy": `"per-key";q=${burst};w=${windowSeconds}`,
        ratelimit: `"per-key";r=${Math.floor(left)};t=${fullInSeconds}`,
        ...(!allowed && { "retry-after": String(Math.ceil((1 - left) / perSecond)) }),
      },
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
