import type { FastifyRequest } from "fastify";
import { type Author, writeDown } from "../audit/audit.ts";
import type { Db } from "../db/schema.ts";
import { RateLimiter } from "../http/rate-limit.ts";
import type { Clock } from "../lib/clock.ts";
import { listOperators } from "../operators/queries.ts";

/** Of a storm of guesses from many addresses the first hundred, then one in thirty seconds. */
const FAILURES = { perSecond: 1 / 30, burst: 100 };

type Asker = Pick<FastifyRequest, "body" | "ip">;

interface SignInLogDeps {
  db: Db;
  clock: Clock;
}

/** Writes down who signed in, who tried to, and who changed a password. */
export class SignInLog {
  readonly #deps: SignInLogDeps;
  readonly #failures: RateLimiter;

  constructor(deps: SignInLogDeps) {
    this.#deps = deps;
    this.#failures = new RateLimiter(FAILURES, deps.clock);
  }

  async noteSignIn(request: Asker, response: Response): Promise<void> {
    const { email } = (request.body ?? {}) as { email?: unknown };
    const operator = typeof email === "string" ? await this.#find(email) : undefined;
    if (response.ok && operator) {
      await this.#write(byOperator(operator, request), "operator.signed_in");
    } else if (response.status === 401 && this.#failures.take("all").allowed) {
      const author: Author = { kind: "stranger", id: null, name: null, address: request.ip };
      // What is no operator's email may be anything, among it a password in the wrong field.
      await this.#write(author, "operator.sign_in_failed", operator);
    }
  }

  async notePasswordChange(request: Asker, operator: { id: string; email: string }): Promise<void> {
    await this.#write(byOperator(operator, request), "operator.password_changed");
  }

  async #find(email: string): Promise<{ id: string; email: string } | undefined> {
    const operators = await listOperators(this.#deps.db);
    return operators.find((operator) => operator.email === email.trim().toLowerCase());
  }

  async #write(
    author: Author,
    action: "operator.signed_in" | "operator.sign_in_failed" | "operator.password_changed",
    subject?: { id: string; email: string },
  ): Promise<void> {
    const { db, clock } = this.#deps;
    await writeDown({ tx: db, clock }, author, {
      action,
      ...(subject && { subject: { id: subject.id, name: subject.email } }),
    });
  }
}

function byOperator({ id, email }: { id: string; email: string }, { ip }: Asker): Author {
  return { kind: "operator", id, name: email, address: ip };
}
