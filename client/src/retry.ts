import { SubtextError } from "./errors.ts";
import { sleep } from "./timers.ts";

export interface RetryPolicy {
  /** How often a failed request is retried. Waiting for a rate limit does not count; 0 turns that off, too. */
  maxRetries: number;
  /** Before the first retry; twice as long before each after it. */
  firstDelayMs: number;
  /** The backoff grows no longer than this. */
  maxDelayMs: number;
  /** Where `Retry-After` asks for a longer wait, the error is thrown at once instead. */
  maxRetryAfterMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 4,
  firstDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
};

/**
 * How long to wait before a request is made again: exponential backoff, of which half is left to chance so that
 * clients which failed together do not come back together; never sooner than the service asked for.
 *
 * @param failures so far, from 1
 * @param chance 0 … 1
 * @returns null where the service asked for a longer wait than the policy allows
 */
export function retryDelayMs(
  policy: RetryPolicy,
  failures: number,
  retryAfterMs: number | null,
  chance: number,
): number | null {
  if (retryAfterMs !== null && retryAfterMs > policy.maxRetryAfterMs) return null;
  const backoffMs = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.maxDelayMs);
  return Math.max(backoffMs * (0.5 + chance / 2), (retryAfterMs ?? 0) + (backoffMs * chance) / 2);
}

/** The attempts of one call. */
export class Retries {
  readonly #policy: RetryPolicy;
  readonly #signal: AbortSignal | undefined;
  #failures = 0;
  #refusals = 0;

  constructor(policy: RetryPolicy, signal: AbortSignal | undefined) {
    this.#policy = policy;
    this.#signal = signal;
  }

  /** Starts counting again, after progress. */
  reset(): void {
    this.#failures = 0;
    this.#refusals = 0;
  }

  /**
   * Sleeps before the next attempt. Waiting for a rate limit is not a retry: it lasts as long as the service says.
   * @throws the error itself if no attempt is left, the signal's reason if it is aborted
   */
  async pause(error: unknown): Promise<void> {
    this.#signal?.throwIfAborted();
    const { maxRetries } = this.#policy;
    if (!(error instanceof SubtextError) || !error.retryable || maxRetries === 0) throw error;
    // What does not exist yet takes longer than a transient fault.
    if (error.status === 404) throw error;
    const isRefusal = error.status === 429 && error.retryAfterMs !== null;
    if (isRefusal) this.#refusals += 1;
    else this.#failures += 1;
    if (this.#failures > maxRetries) throw error;
    const count = isRefusal ? this.#refusals : this.#failures;
    const delayMs = retryDelayMs(this.#policy, count, error.retryAfterMs, Math.random());
    if (delayMs === null) throw error;
    await sleep(delayMs, this.#signal);
  }
}

/**
 * @param nowMs used where the answer does not tell its own time, which a date is of
 * @returns milliseconds; null where the header is missing or says nothing that can be read
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // Date.parse alone makes a date of almost any number.
  const dateMs = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(dateMs)) return null;
  const answeredMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, dateMs - (Number.isNaN(answeredMs) ? nowMs : answeredMs));
}
