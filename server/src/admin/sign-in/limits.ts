import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { addressGroup } from "../../http/client-address.ts";
import { RateLimiter } from "../../http/rate-limit.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";

/** A burst of 5 attempts, then one every 12 seconds. */
const ADDRESS_LIMIT = { perSecond: 1 / 12, burst: 5 };
/** Looser, so that a stranger cannot easily lock out an operator; still limits guesses from many addresses. */
const ACCOUNT_LIMIT = { perSecond: 1 / 30, burst: 15 };

/** Limits attempts to guess a password or a secret link. */
export class SignInLimits {
  readonly #byAddress: RateLimiter;
  readonly #byAccount: RateLimiter;

  constructor(clock: Clock) {
    this.#byAddress = new RateLimiter(ADDRESS_LIMIT, clock);
    this.#byAccount = new RateLimiter(ACCOUNT_LIMIT, clock);
  }

  /** @throws AppError `rate_limited` */
  countAddress(request: FastifyRequest): void {
    this.#take(this.#byAddress, addressGroup(request.ip), request);
  }

  /**
   * Also counts attempts for accounts that do not exist.
   * @throws AppError `rate_limited`
   */
  countAccount(email: string, request: FastifyRequest): void {
    // Hashing limits the length of the key.
    const key = createHash("sha256").update(email.trim().toLowerCase()).digest("base64url");
    this.#take(this.#byAccount, key, request);
  }

  #take(limiter: RateLimiter, key: string, request: FastifyRequest): void {
    const { allowed, headers } = limiter.take(key);
    if (allowed) return;
    request.log.warn({ address: request.ip }, "too many sign-in attempts");
    const seconds = headers["retry-after"];
    throw new AppError("rate_limited", `Too many attempts. Try again in ${seconds} s.`, {
      headers,
    });
  }
}
