import { createHash } from "node:crypto";
import { type RateLimit, type RateLimitDecision, RateLimiter } from "../http/rate-limit.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";

/** Limits invalid tokens from one address, because each costs a database read. */
const INVALID_TOKENS_PER_ADDRESS: RateLimit = { perSecond: 10, burst: 100 };
/** Limits the same invalid token across all addresses. */
const SAME_INVALID_TOKEN: RateLimit = { perSecond: 1, burst: 20 };
const MAX_VERIFIED_TOKENS = 10_000;

export interface PresentedToken {
  token: string;
  /** As returned by `addressGroup`. */
  address: string;
  counted: boolean;
}

/**
 * Limits requests before the database is read. A token that was verified before has its own limit; other tokens
 * are limited per address and per token. Invalid tokens from the same address therefore never use up the limit of a
 * verified key. Each process limits separately.
 */
export class TokenLimits {
  readonly #perKey: RateLimiter;
  readonly #perAddress: RateLimiter;
  readonly #perInvalidToken: RateLimiter;
  /** Hashes of verified tokens, least recently used first. */
  readonly #verified = new Set<string>();
  /** First verifications in progress, keyed by the token's hash. */
  readonly #verifying = new Map<string, Promise<unknown>>();

  constructor(perKey: RateLimit, clock: Clock) {
    this.#perKey = new RateLimiter(perKey, clock);
    this.#perAddress = new RateLimiter(INVALID_TOKENS_PER_ADDRESS, clock);
    this.#perInvalidToken = new RateLimiter(SAME_INVALID_TOKEN, clock);
  }

  /** Returns the owner of an upload request's turns; see `TurnQueue`: its verified key, otherwise its address. */
  ownerOf(token: string | null, address: string): string {
    const hash = token === null ? null : hashOf(token);
    return hash !== null && this.#verified.has(hash) ? `key ${hash}` : `address ${address}`;
  }

  /**
   * @param verify reads the key; returns undefined if the token is invalid
   * @returns the key and its rate limit headers
   * @throws AppError `rate_limited`, before the key is read
   */
  async verify<Key>(
    { token, address, counted }: PresentedToken,
    verify: () => Promise<Key | undefined>,
  ): Promise<{ key: Key | undefined; headers: Record<string, string> }> {
    const hash = hashOf(token);
    while (!this.#verified.has(hash)) {
      const running = this.#verifying.get(hash);
      if (running) {
        // Waits, so that concurrent requests with a new token do not each count as an invalid token.
        await running.catch(() => {});
        continue;
      }
      const first = this.#verifyFirst(hash, address, verify);
      this.#verifying.set(hash, first);
      try {
        const key = await first;
        return { key, headers: key ? this.#count(hash, counted) : {} };
      } finally {
        this.#verifying.delete(hash);
      }
    }
    this.#remember(hash);
    const headers = this.#count(hash, counted);
    const key = await verify();
    if (!key) this.#verified.delete(hash);
    return { key, headers };
  }

  async #verifyFirst<Key>(
    hash: string,
    address: string,
    verify: () => Promise<Key | undefined>,
  ): Promise<Key | undefined> {
    requireAllowed(this.#perInvalidToken.take(hash));
    requireAllowed(this.#perAddress.take(address));
    let isInvalid = false;
    try {
      const key = await verify();
      if (key) this.#remember(hash);
      else isInvalid = true;
      return key;
    } finally {
      if (!isInvalid) {
        this.#perInvalidToken.refund(hash);
        this.#perAddress.refund(address);
      }
    }
  }

  #count(hash: string, counted: boolean): Record<string, string> {
    const { allowed, headers } = counted ? this.#perKey.take(hash) : this.#perKey.peek(hash);
    if (allowed) return headers;
    const message = "This API key has sent too many requests; wait and try again.";
    throw new AppError("rate_limited", message, { headers });
  }

  #remember(hash: string): void {
    this.#verified.delete(hash);
    this.#verified.add(hash);
    if (this.#verified.size <= MAX_VERIFIED_TOKENS) return;
    for (const oldest of this.#verified) {
      this.#verified.delete(oldest);
      return;
    }
  }
}

function requireAllowed({ allowed, headers }: RateLimitDecision): void {
  if (allowed) return;
  throw new AppError("rate_limited", "Too many requests with invalid API keys; wait and try again.", {
    headers: { "retry-after": headers["retry-after"]! },
  });
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
