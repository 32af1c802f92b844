import type { FastifyRequest } from "fastify";
import { type AuditActor, recordAuditEvent } from "../../audit/audit-events.ts";
import type { Db } from "../../db/schema.ts";
import { RateLimiter } from "../../http/rate-limit.ts";
import type { Clock } from "../../lib/clock.ts";
import { listOperators } from "../../operators/queries.ts";

/** Limits how many failed sign-ins are recorded: a burst of 100, then one every 30 seconds. */
const FAILURES = { perSecond: 1 / 30, burst: 100 };

type Client = Pick<FastifyRequest, "ip">;

interface SignInAuditDeps {
  db: Db;
  clock: Clock;
}

export class SignInAudit {
  readonly #deps: SignInAuditDeps;
  readonly #failures: RateLimiter;

  constructor(deps: SignInAuditDeps) {
    this.#deps = deps;
    this.#failures = new RateLimiter(FAILURES, deps.clock);
  }

  async recordSignIn(request: Client, email: string, response: Response): Promise<void> {
    const operator = await this.#find(email);
    if (response.ok && operator) {
      await this.#record(byOperator(operator, request), "operator.signed_in");
    } else if (response.status === 401 && this.#failures.take("all").allowed) {
      const auditActor: AuditActor = { kind: "stranger", id: null, name: null, address: request.ip };
      // An unknown email is not recorded, because it may be a password typed into the wrong field.
      await this.#record(auditActor, "operator.sign_in_failed", operator);
    }
  }

  async recordPasswordChange(request: Client, operator: { id: string; email: string }): Promise<void> {
    await this.#record(byOperator(operator, request), "operator.password_changed");
  }

  async #find(email: string): Promise<{ id: string; email: string } | undefined> {
    const operators = await listOperators(this.#deps.db);
    return operators.find((operator) => operator.email === email.trim().toLowerCase());
  }

  async #record(
    auditActor: AuditActor,
    action: "operator.signed_in" | "operator.sign_in_failed" | "operator.password_changed",
    subject?: { id: string; email: string },
  ): Promise<void> {
    const { db, clock } = this.#deps;
    await recordAuditEvent({ tx: db, clock }, auditActor, {
      action,
      ...(subject && { subject: { id: subject.id, name: subject.email } }),
    });
  }
}

function byOperator({ id, email }: { id: string; email: string }, { ip }: Client): AuditActor {
  return { kind: "operator", id, name: email, address: ip };
}
