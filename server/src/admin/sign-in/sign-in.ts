import type { FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../../db/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { isPlausibleId } from "../../lib/ids.ts";
import {
  CLIENT_ADDRESS_HEADER,
  type Credentials,
  type Operators,
  SIGN_IN_PATH,
} from "../../operators/operators.ts";
import { endSessions, listSessions } from "../../operators/queries.ts";
import { authHeaders } from "../access.ts";
import { defineHandlers } from "../operation.ts";
import { SignInAudit } from "./audit.ts";
import type { SignInLimits } from "./limits.ts";

interface SignInDeps {
  operators: Operators;
  limits: SignInLimits;
  db: Db;
  clock: Clock;
}

/** Sign-in and sessions. Of better-auth's routes, exposes only sign-in, sign-out and password change. */
export function signInHandlers({ operators, limits, db, clock }: SignInDeps) {
  const audit = new SignInAudit({ db, clock });
  const send = async (request: FastifyRequest, body: object) =>
    await operators.handle(toWebRequest(request, operators.origin, body));
  return defineHandlers({
    "POST /auth/sign-in/email": async ({ body: { email, password }, request, reply }) => {
      limits.countAccount(email, request);
      const response = await send(request, { email, password });
      // Runs before the cookie is sent, so that a sign-in fails if the audit log cannot record it.
      await audit.recordSignIn(request, email, response);
      return await answer(response, reply);
    },

    "POST /auth/change-password": async ({ body, actor: { operator }, request, reply }) => {
      // better-auth checks the password of the session's account, so the attempt counts for that account.
      limits.countAccount(operator.email, request);
      const { currentPassword, newPassword, revokeOtherSessions } = body;
      const response = await send(request, { currentPassword, newPassword, revokeOtherSessions });
      if (response.ok) await audit.recordPasswordChange(request, operator);
      return await answer(response, reply);
    },

    "POST /auth/sign-out": async ({ request, reply }) => await answer(await send(request, {}), reply),

    "GET /auth/sessions": async ({ actor: { id, operator } }) => {
      const sessions = (await listSessions(db, operator.id, clock.now())).map((row) => ({
        id: row.id,
        current: row.id === id,
        ipAddress: row.ip_address,
        userAgent: row.user_agent,
        createdAt: row.created_at.toISOString(),
        expiresAt: row.expires_at.toISOString(),
      }));
      return { data: sessions.sort((a, b) => Number(b.current) - Number(a.current)) };
    },

    "DELETE /auth/sessions/:id": async ({ params: { id }, actor }) => {
      if (isPlausibleId(id)) await endSessions(db, actor.operator.id, { id });
    },

    "DELETE /auth/sessions": async ({ actor: { id, operator } }) =>
      await endSessions(db, operator.id, { except: id }),
  });
}

/** Starts a session with credentials that were just created or verified. */
export async function beginSession(
  operators: Operators,
  credentials: Credentials,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const headers = authHeaders(request);
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  headers.set("content-type", "application/json");
  const url = new URL(`${SIGN_IN_PATH}/sign-in/email`, operators.origin);
  const body = JSON.stringify(credentials);
  const response = await operators.handle(new Request(url, { method: "POST", headers, body }));
  if (!response.ok) throw signInError(response.status, await response.text());
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
}

function toWebRequest(request: FastifyRequest, origin: string, body: object): Request {
  const headers = authHeaders(request);
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  headers.set("content-type", "application/json");
  const { method } = request;
  return new Request(new URL(request.url, origin), { method, headers, body: JSON.stringify(body) });
}

async function answer(response: Response, reply: FastifyReply): Promise<Record<string, never>> {
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
  if (!response.ok) throw signInError(response.status, await response.text());
  // better-auth's response body contains the session token, which scripts must not be able to read.
  return {};
}

function signInError(status: number, text: string): Error {
  const { code, message } = parseError(text);
  if (code === "INVALID_EMAIL_OR_PASSWORD") {
    return new AppError("sign_in_failed", "Incorrect email or password.");
  }
  if (status === 401) return new AppError("sign_in_required", "There is no session, or it has ended.");
  if (status === 403) return new AppError("origin_not_allowed", `${message}.`);
  if (status === 400) return new AppError("invalid_request", `${message}.`);
  return new Error(`better-auth answered ${status}: ${text}`);
}

function parseError(text: string): { code: string; message: string } {
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  const { code = "", message = "The request is not acceptable" } = parsed as Record<string, string>;
  return { code, message };
}
