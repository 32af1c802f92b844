import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";
import type { Operators } from "../operators/operators.ts";
import type { MeView } from "./contract/operator.ts";

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/**
 * Refuses what a page of another origin makes a browser send: cookies travel with such a request, its
 * Origin header tells where it comes from. A bearer token is no cookie, so requests with one may pass.
 * @throws AppError `origin_not_allowed`
 */
export function refuseOtherOrigins(request: FastifyRequest, allowed: string): void {
  const { origin, cookie, authorization } = request.headers;
  if (SAFE_METHODS.includes(request.method) || authorization !== undefined) return;
  if (origin === allowed || (origin === undefined && cookie === undefined)) return;
  throw new AppError("origin_not_allowed", `Only pages of ${allowed} (PUBLIC_URL) may ask for this.`);
}

export interface AccessOptions {
  operators: Operators;
  /** What the command line on this machine shows instead of a session. */
  commandLineToken: string;
}

/** Who asks: whoever runs the command line on this machine may do what an owner may. */
export type Actor = MeView | "command line";

/**
 * Lets through a signed-in operator and the command line.
 * @throws AppError `sign_in_required`
 */
export async function requireOperator(
  request: FastifyRequest,
  reply: FastifyReply,
  { operators, commandLineToken }: AccessOptions,
): Promise<Actor> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    if (sameText(authorization, `Bearer ${commandLineToken}`)) return "command line";
    throw new AppError("sign_in_required", "The token is not the one of the running service.");
  }
  const session = await operators.findSession(authHeaders(request));
  if (!session) throw new AppError("sign_in_required", "There is no session, or it has ended.");
  for (const cookie of session.setCookies) reply.header("set-cookie", cookie);
  return session.operator;
}

/**
 * A viewer sees everything and changes nothing: whatever is no reading is an owner's.
 * @throws AppError `owner_required`
 */
export function requireRole(actor: Actor, request: FastifyRequest): void {
  if (actor === "command line" || actor.role === "owner" || SAFE_METHODS.includes(request.method)) return;
  throw new AppError("owner_required", "You may see everything here; to change it takes an owner.");
}

/** What better-auth needs to see of a request. */
export function authHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const name of ["cookie", "origin", "referer", "user-agent", "sec-fetch-site", "sec-fetch-mode"]) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

/** In a time that tells nothing of where they differ. */
function sameText(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
