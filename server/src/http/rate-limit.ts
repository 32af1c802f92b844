import type { Clock } from "../lib/clock.ts";

export interface RateLimit {
  perSecond: number;
  burst: number;
}

export interface RateLimitDecision {
  allowed: boolean;
  /** Header fields for the response, as in draft-ietf-httpapi-ratelimit-headers. */
  headers: Record<string, string>;
}

interface Bucket {
  tokens: number;
  /** Time of the token count, in Unix milliseconds. */
  at: number;
  /** Earliest retry time of the next refused request, in Unix milliseconds. */
  nextSlot: number;
}

/** Clients would give up instead of waiting longer. */
const MAX_QUEUE_MS = 60_000;
/** A key takes about 200 bytes of memory. The least recently used keys are removed first. */
const MAX_BUCKETS = 50_000;

/**
 * A token bucket for each key, in memory. Each process counts separately, because a shared count would require a
 * database write for every request.
 *
 * `Retry-After` grows with load: requests that are refused in the same period get consecutive times, one token apart,
 * so that clients do not all retry at the same time.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Counts the request unless it exceeds the limit. */
  take(key: string): RateLimitDecision {
    const now = this.#now();
    const tokens = this.#tokensOf(key, now);
    if (tokens >= 1) {
      this.#put(key, { tokens: tokens - 1, at: now, nextSlot: this.#buckets.get(key)?.nextSlot ?? now });
      return { allowed: true, headers: this.#describe(tokens - 1) };
    }
    const tokenMs = 1000 / this.#limit.perSecond;
    const nextTokenMs = (1 - tokens) * tokenMs;
    const queueMs = Math.min((this.#buckets.get(key)?.nextSlot ?? now) - now, MAX_QUEUE_MS);
    const waitMs = Math.max(nextTokenMs, queueMs);
    this.#put(key, { tokens, at: now, nextSlot: now + waitMs + tokenMs });
    return {
      allowed: false,
      headers: { ...this.#describe(tokens), "retry-after": String(Math.ceil(waitMs / 1000)) },
    };
  }

  /** Returns the state of a key without counting a request. */
  peek(key: string): RateLimitDecision {
    return { allowed: true, headers: this.#describe(this.#tokensOf(key, this.#now())) };
  }

  /** Reverts `take`. */
  refund(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket) bucket.tokens += 1;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #tokensOf(key: string, now: number): number {
    const bucket = this.#buckets.get(key);
    return bucket ? this.#refilled(bucket, now) : this.#limit.burst;
  }

  #refilled({ tokens, at }: Bucket, now: number): number {
    const { perSecond, burst } = this.#limit;
    return Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond);
  }

  #describe(left: number): Record<string, string> {
    const { perSecond, burst } = this.#limit;
    const windowSeconds = Math.ceil(burst / perSecond);
    const fullInSeconds = Math.ceil((burst - left) / perSecond);
    return {
      "ratelimit-policy": `"per-key";q=${burst};w=${windowSeconds}`,
      ratelimit: `"per-key";r=${Math.floor(left)};t=${fullInSeconds}`,
    };
  }

  #put(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    // A full bucket is equivalent to none.
    for (const [oldest, found] of this.#buckets) {
      const isFull = this.#refilled(found, bucket.at) >= this.#limit.burst;
      if (!isFull && this.#buckets.size <= MAX_BUCKETS) break;
      this.#buckets.delete(oldest);
    }
  }
}
