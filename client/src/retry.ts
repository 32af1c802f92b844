import { SubtextError } from "./errors.ts";
import { sleep } from "./timers.ts";

export interface RetryPolicy {
  /** Retries of a failed request. Waiting for a rate limit does not count, but 0 disables it too. */
  maxRetries: number;
  /** Delay before the first retry; doubles with each further retry. */
  firstDelayMs: number;
  /** The longest backoff. */
  maxDelayMs: number;
  /** If `Retry-After` exceeds this, the error is thrown immediately. */
  maxRetryAfterMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 4,
  firstDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
};

/**
 * The delay before a retry: exponential backoff, half of it random so that clients that failed together do not retry
 * together; never shorter than `Retry-After`.
 *
 * @param failures so far, from 1
 * @param random 0 … 1
 * @returns null if the service asks for a longer wait than the policy allows
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

/** The attempts of one call. */
export class Retries {
  readonly #policy: RetryPolicy;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  #rateLimits = 0;

  constructor(policy: RetryPolicy, signal: AbortSignal | undefined) {
    this.#policy = policy;
    this.#signal = signal;
  }

  /** Starts counting again, after progress. */
  reset(): void {
    this.#failures = 0;
    this.#rateLimits = 0;
  }

  /**
   * Sleeps before the next attempt. Waiting for a rate limit is not a retry: it lasts as long as `Retry-After` says.
   * @throws the error itself if no attempt is left, the signal's reason if it is aborted
   */
  async pause(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    const { maxRetries } = this.#policy;
    if (!(error instanceof SubtextError) || !error.retryable || maxRetries === 0) throw error;
    // Waiting for a resource that does not exist yet takes longer than retries last.
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
 * @param nowMs used for dates if the response has no `Date` header
 * @returns milliseconds; null if the header is missing or malformed
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // Date.parse accepts almost any number as a date.
  const dateMs = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(dateMs)) return null;
  const respondedMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, dateMs - (Number.isNaN(respondedMs) ? nowMs : respondedMs));
}
