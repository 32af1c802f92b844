import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AuditActor } from "../audit/audit-events.ts";
import { AppError } from "../lib/errors.ts";
import type { OperatorSession, Operators } from "../operators/operators.ts";
import type { Role } from "./contract/operation.ts";

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Rejects requests from pages of other origins, because browsers attach the session cookie to them. Requests with a
 * bearer token pass, because a browser never attaches one by itself.
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
  /** The token that the command line on this machine presents instead of a session. */
  commandLineToken: string;
}

/** The authenticated caller. The command line may do everything that an owner may. */
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
  // The command line runs on this machine, so the address that it connects from is not recorded.
  if (actor === "command line") return { kind: "command_line", id: null, name: null, address: null };
  const { id, email } = actor.operator;
  return { kind: "operator", id, name: email, address: ip };
}

/** The request headers that better-auth reads. */
export function authHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const name of ["cookie", "origin", "referer", "user-agent", "sec-fetch-site", "sec-fetch-mode"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. */
function equalInConstantTime(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
