import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import {
  CLIENT_ADDRESS_HEADER,
  type Credentials,
  type Operators,
  SIGN_IN_PATH,
} from "../operators/operators.ts";
import { authHeaders, refuseOtherOrigins } from "./access.ts";
import { SignInLog } from "./sign-in-audit.ts";
import type { Attempts } from "./sign-in-limits.ts";

interface Route {
  path: string;
  takesPassword?: boolean;
  /** Of the body, what better-auth is given to read; it knows more fields, such as where to redirect to. */
  fields?: readonly string[];
}

/** Of better-auth's routes, the ones that an operator with a password needs; the rest is not there. */
const ROUTES: readonly Route[] = [
  { path: "/sign-in/email", takesPassword: true, fields: ["email", "password"] },
  {
    path: "/change-password",
    takesPassword: true,
    fields: ["currentPassword", "newPassword", "revokeOtherSessions"],
  },
  { path: "/sign-out" },
];

/** Sign-in, and what goes with it, at `/internal/auth/…`: JSON in, JSON and cookies out. */
export function registerSignIn(
  app: FastifyInstance,
  { operators, attempts, db, clock }: { operators: Operators; attempts: Attempts; db: Db; clock: Clock },
): void {
  const log = new SignInLog({ db, clock });
  app.register(async (auth) => {
    for (const { path, takesPassword = false, fields = [] } of ROUTES) {
      auth.route({
        method: "POST",
        url: SIGN_IN_PATH + path,
        onRequest: async (request, reply) => {
          reply.header("cache-control", "no-store");
          refuseOtherOrigins(request, operators.origin);
          if (takesPassword) attempts.countAddress(request);
        },
        preHandler: async (request) => {
          if (!takesPassword) return;
          const email = await emailOfAccount(operators, path, request);
          if (email !== undefined) attempts.countAccount(email, request);
        },
        handler: async (request, reply) => {
          // A change of password may end the session that it was asked for in.
          const session =
            path === "/change-password" ? await operators.findSession(authHeaders(request)) : null;
          const response = await operators.handle(
            toWebRequest(request, { origin: operators.origin, fields }),
          );
          // Before the cookie is given away: a sign-in that can not be written down has not happened.
          if (path === "/sign-in/email") await log.noteSignIn(request, response);
          if (session && response.ok) await log.notePasswordChange(request, session.operator);
          return await answer(response, reply);
        },
      });
    }
  });
}

/** Begins a session for someone who has just been given, or has just proved, these credentials. */
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

/**
 * The account whose password the request checks. Only a sign-in names it in the body: a request with a session checks
 * the password of that session's operator, whatever its body says.
 */
async function emailOfAccount(
  operators: Operators,
  path: string,
  request: FastifyRequest,
): Promise<string | undefined> {
  if (path !== "/sign-in/email") return (await operators.findSession(authHeaders(request)))?.operator.email;
  const { email } = (request.body ?? {}) as { email?: unknown };
  return typeof email === "string" ? email : undefined;
}

function toWebRequest(
  request: FastifyRequest,
  { origin, fields }: { origin: string; fields: readonly string[] },
): Request {
  const headers = authHeaders(request);
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  const { method, body } = request;
  if (body === undefined || body === null) {
    return new Request(new URL(request.url, origin), { method, headers });
  }
  headers.set("content-type", "application/json");
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)));
  return new Request(new URL(request.url, origin), { method, headers, body: JSON.stringify(known) });
}

async function answer(response: Response, reply: FastifyReply): Promise<FastifyReply> {
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
  if (!response.ok) throw signInError(response.status, await response.text());
  // better-auth repeats the session token in its response body. Pages must not see it: scripts cannot read the cookie.
  return reply.send({});
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
