import { SubtextError } from "./errors.ts";
import { sleep } from "./timers.ts";

export interface RetryPolicy {
  /** Maximum retries of a failed request. Waits for a rate limit do not count, but 0 disables them too. */
  maxRetries: number;
  /** Delay before the first retry. It doubles with each further retry. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** If `Retry-After` is longer, the error is thrown immediately. */
  maxRetryAfterMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 4,
  firstDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
};

/**
 * Returns the delay before a retry: exponential backoff with jitter, at least `Retry-After`.
 *
 * @param failures at least 1
 * @param random 0 … 1
 * @returns null if `Retry-After` is longer than the policy allows
 */
export function retryDelayMs(
  policy: RetryPolicy,
  failures: number,
  retryAfterMs: number | null,
  random: number,
): number | null {
  if (retryAfterMs !== null && retryAfterMs > policy.maxRetryAfterMs) return null;
  const backoffMs = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.maxDelayMs);
  return Math.max(backoffMs * (0.5 + random / 2), (retryAfterMs ?? 0) + (backoffMs * random) / 2);
}

/** Counts the failures of one call and waits before each retry. */
export class Retries {
  readonly #policy: RetryPolicy;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  #rateLimits = 0;

  constructor(policy: RetryPolicy, signal: AbortSignal | undefined) {
    this.#policy = policy;
    this.#signal = signal;
  }

  /** Resets the counts after progress. */
  reset(): void {
    this.#failures = 0;
    this.#rateLimits = 0;
  }

  /**
   * Sleeps before the next attempt. Waits for a rate limit do not count as retries.
   * @throws the error if it is not retryable, no retry is left, or `Retry-After` is too long; the signal's reason if it is
   * aborted
   */
  async pause(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    const { maxRetries } = this.#policy;
    if (!(error instanceof SubtextError) || !error.retryable || maxRetries === 0) throw error;
    // A 404 such as `upload_incomplete` is likely to last longer than all retries.
    if (error.status === 404) throw error;
    const isRateLimited = error.status === 429 && error.retryAfterMs !== null;
    if (isRateLimited) this.#rateLimits += 1;
    else this.#failures += 1;
    if (this.#failures > maxRetries) throw error;
    const count = isRateLimited ? this.#rateLimits : this.#failures;
    const delayMs = retryDelayMs(this.#policy, count, error.retryAfterMs, Math.random());
    if (delayMs === null) throw error;
    await sleep(delayMs, this.#signal);
  }
}

/**
 * @param nowMs used if the header contains a date and the response has no `Date` header
 * @returns null if the header is missing or malformed
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // `Date.parse` accepts almost any number.
  const dateMs = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(dateMs)) return null;
  const respondedMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, dateMs - (Number.isNaN(respondedMs) ? nowMs : respondedMs));
}
