import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditActor } from "../audit/audit-events.ts";
import { AppError } from "../lib/errors.ts";
import type { OperatorSession, Operators } from "../operators/operators.ts";
import type { Role } from "./contract/operation.ts";

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Refuses requests of pages of other origins, because browsers send the session's cookie with them. A bearer token is
 * never sent by a browser itself, so requests with one pass.
 * @throws AppError `origin_not_allowed`
 */
export function refuseOtherOrigins(request: FastifyRequest, allowed: string): void {
  const { origin, cookie, authorization } = request.headers;
  if (SAFE_METHODS.includes(request.method) || authorization !== undefined) return;
  if (origin === allowed || (origin === undefined && cookie === undefined)) return;
  throw new AppError("origin_not_allowed", `Only pages of ${allowed} (PUBLIC_URL) may do this.`);
}

export interface AccessOptions {
  operators: Operators;
  /** Shown by the command line on this machine instead of a session. */
  commandLineToken: string;
}

/** Who calls. The command line may do what an owner may. */
export type Actor = OperatorSession | "command line";

/**
 * Checks that the caller has the role that an operation requires.
 * @returns null if the operation is open to anyone
 * @throws AppError `sign_in_required`, `owner_required`, `command_line_required`
 */
export async function authorize(
  role: Role,
  request: FastifyRequest,
  reply: FastifyReply,
  options: AccessOptions,
): Promise<Actor | null> {
  if (role === "anyone") return null;
  const actor = await authenticate(request, reply, options);
  if (actor === "command line") {
    if (role === "session") throw new AppError("sign_in_required", "The command line has no account.");
    return actor;
  }
  if (role === "command line") {
    throw new AppError(
      "command_line_required",
      "Only the command line on the service's machine may do this.",
    );
  }
  if (role === "owner" && actor.operator.role !== "owner") {
    throw new AppError("owner_required", "Only owners may do this.");
  }
  return actor;
}

/** @throws AppError `sign_in_required` */
async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  { operators, commandLineToken }: AccessOptions,
): Promise<Actor> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    if (equalInConstantTime(authorization, `Bearer ${commandLineToken}`)) return "command line";
    throw new AppError("sign_in_required", "The token is not the one of the running service.");
  }
  const session = await operators.findSession(authHeaders(request));
  if (!session) throw new AppError("sign_in_required", "There is no session, or it has ended.");
  for (const cookie of session.setCookies) reply.header("set-cookie", cookie);
  return session;
}

/** The actor as the audit log records it. */
export function auditActorOf(actor: Actor | null, { ip }: FastifyRequest): AuditActor {
  if (actor === null) return { kind: "stranger", id: null, name: null, address: ip };
  // The command line is on this machine, whichever address it connects from.
  if (actor === "command line") return { kind: "command_line", id: null, name: null, address: null };
  const { id, email } = actor.operator;
  return { kind: "operator", id, name: email, address: ip };
}

/** The headers of a request that better-auth reads. */
export function authHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const name of ["cookie", "origin", "referer", "user-agent", "sec-fetch-site", "sec-fetch-mode"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

/** Takes the same time wherever the texts differ. */
function equalInConstantTime(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
