import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { AuditActor } from "../audit/audit-events.ts";
import type { OperatorAccess, OperatorRole } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import type { OperatorSession, Operators } from "../operators/operators.ts";
import type { Callers } from "./contract/operation.ts";
import type { Scope } from "./scope.ts";

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Prevents cross-site request forgery: rejects requests from pages of other origins. Requests with a bearer token pass,
 * because pages of other origins cannot send one without a preflight request, which fails.
 * @throws AppError `origin_not_allowed`
 */
export function rejectOtherOrigins(request: FastifyRequest, allowed: string): void {
  const { origin, cookie } = request.headers;
  if (SAFE_METHODS.includes(request.method) || hasBearerToken(request)) return;
  if (origin === allowed || (origin === undefined && cookie === undefined)) return;
  throw new AppError("origin_not_allowed", `Only pages of ${allowed} (PUBLIC_URL) may do this.`);
}

export interface AccessOptions {
  db: Db;
  operators: Operators;
  /** The bearer token that the command line on this machine sends instead of a session cookie. */
  commandLineToken: string;
}

/** The authenticated caller. The command line has the rights of an owner. */
export type Actor = OperatorSession | "command line";

export interface Rule {
  callers: Callers;
  /** Where an operator needs one of the roles; ignored if `callers` is not a list of roles. */
  scope: Scope;
}

/**
 * Checks that the caller may call an operation. Roles are checked nowhere else.
 * @returns null if the operation is open to anyone
 * @throws AppError `sign_in_required`, `owner_required`, `role_required`, `command_line_required`; an operator
 * without a role in the environment gets the same error as for an unknown id
 */
export async function authorize(
  rule: Rule,
  request: FastifyRequest,
  options: AccessOptions,
): Promise<Actor | null> {
  const { callers } = rule;
  if (callers === "anyone") return null;
  const actor = await authenticate(request, options);
  if (actor === "command line") {
    if (callers === "session") throw new AppError("sign_in_required", "The command line has no account.");
    return actor;
  }
  if (callers === "session") return actor;
  if (callers === "command line") {
    throw new AppError(
      "command_line_required",
      "Only the command line on the service's machine may do this.",
    );
  }
  const roles = await rolesIn(options.db, rule.scope, actor.operator, request);
  if (roles.some((role) => callers.includes(role))) return actor;
  if (callers.every((role) => role === "owner")) {
    throw new AppError("owner_required", "Only owners may do this.");
  }
  throw new AppError("role_required", "Your role does not allow this.");
}

/** @throws AppError the same as for an unknown id if the operator has no role in the environment */
async function rolesIn(
  db: Db,
  scope: Scope,
  { role, environments }: OperatorAccess,
  { params }: FastifyRequest,
): Promise<OperatorRole[]> {
  if (role !== null) return [role];
  if (scope === "all environments") return [];
  if (scope === "any environment") return environments.map((each) => each.role);
  const value = (params as Record<string, string>)[scope.param]!;
  const environmentId = await scope.findEnvironmentId(db, value);
  const membership = environments.find(({ id }) => id === environmentId);
  if (!membership) throw scope.notFound(value);
  return [membership.role];
}

/** Returns null if the caller has no role in the environment. */
export function roleIn(actor: Actor, environmentId: string): OperatorRole | null {
  if (actor === "command line") return "owner";
  const { role, environments } = actor.operator;
  return role ?? environments.find(({ id }) => id === environmentId)?.role ?? null;
}

async function authenticate(
  request: FastifyRequest,
  { operators, commandLineToken }: AccessOptions,
): Promise<Actor> {
  if (hasBearerToken(request)) {
    const isCommandLine = equalInConstantTime(request.headers.authorization!, `Bearer ${commandLineToken}`);
    if (isCommandLine) return "command line";
    throw new AppError("sign_in_required", "The token does not belong to the running service.");
  }
  const session = await operators.findSession(authHeaders(request));
  if (!session) throw new AppError("sign_in_required", "There is no session, or it has ended.");
  return session;
}

/** Ignores other schemes: browsers send the password of a proxy with basic authentication to the service as well. */
function hasBearerToken({ headers }: FastifyRequest): boolean {
  return /^Bearer /i.test(headers.authorization ?? "");
}

export function auditActorOf(actor: Actor | null, { ip }: FastifyRequest): AuditActor {
  if (actor === null) return { kind: "stranger", id: null, name: null, address: ip };
  // The command line always connects from this machine, so its address is not recorded.
  if (actor === "command line") return { kind: "command_line", id: null, name: null, address: null };
  const { id, email } = actor.operator;
  return { kind: "operator", id, name: email, address: ip };
}

/** Returns the request headers that better-auth reads. */
export function authHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const name of ["cookie", "origin", "referer", "user-agent", "sec-fetch-site", "sec-fetch-mode"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

function equalInConstantTime(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
