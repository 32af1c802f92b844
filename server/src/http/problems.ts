import type { Problem } from "@subtext/client/contract/problem";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import { logLevelOf } from "../lib/outages.ts";
import { type KnownRoute, methodsOf } from "./route-methods.ts";

const RETRY_AFTER_SECONDS = "5";

/** Codes for Fastify's own errors. Other errors below 500 are `invalid_request`. */
const CODE_BY_STATUS: Record<number, AppErrorCode> = {
  404: "route_not_found",
  413: "payload_too_large",
  414: "invalid_request",
  415: "unsupported_media_type",
  429: "rate_limited",
  431: "headers_too_large",
  503: "service_unavailable",
};

/**
 * Responds to every error with a problem document (RFC 9457). Call this before you add routes, because it records them:
 * a wrong method on an existing path gets 405 with `Allow` instead of 404.
 */
export function registerProblems(app: FastifyInstance): void {
  const routes: KnownRoute[] = [];
  app.addHook("onRoute", ({ url, method }) => {
    routes.push({ url, methods: [method].flat() });
  });
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    const allowed = methodsOf(path, routes);
    const error =
      allowed.length === 0
        ? new AppError("route_not_found", `No route has the path ${path}.`)
        : new AppError("method_not_allowed", `${request.method} is not allowed here.`, {
            headers: { allow: allowed.join(", ") },
          });
    return sendProblem(error, request, reply);
  });
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const appError = toAppError(error);
  if (appError.status >= 500) {
    request.log[logLevelOf(appError, "error")]({ err: error, code: appError.code }, "request failed");
  }
  const problem: Problem = {
    type: problemType(appError.code),
    title: appError.title,
    status: appError.status,
    detail: appError.message,
    instance: pathOf(request),
    code: appError.code,
    requestId: request.id,
  };
  // The route may have set these headers for its own response.
  for (const name of ["content-length", "content-encoding", "content-disposition", "etag"]) {
    reply.removeHeader(name);
  }
  return reply
    .code(appError.status)
    .headers({
      "x-request-id": request.id,
      "cache-control": "no-store",
      ...(appError.status === 503 && { "retry-after": RETRY_AFTER_SECONDS }),
      ...appError.headers,
    })
    .type("application/problem+json")
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(problem);
}

/**
 * Returns the URL of the page that explains an error. It is relative, because each installation serves the
 * documentation of its own version.
 */
export function problemType(code: AppErrorCode): string {
  return `/docs/errors#${code}`;
}

/** Converts unknown errors to `internal_error`, because their messages may contain queries, paths and addresses. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError && error.status !== 500) return error;
  const status = statusOf(error);
  if (error instanceof Error && status !== null) {
    const code = CODE_BY_STATUS[status] ?? (status < 500 ? "invalid_request" : null);
    if (code !== null) {
      const detail = status < 500 ? detailOf(error) : "The service is temporarily unavailable.";
      return new AppError(code, detail, { cause: error });
    }
  }
  return new AppError("internal_error", "Something went wrong on our side.", { cause: error });
}

/**
 * Replaces some of Fastify's messages. The message for a URL that cannot be decoded would contain the signature in its
 * query.
 */
function detailOf(error: Error): string {
  const code = "code" in error ? error.code : null;
  if (code === "FST_ERR_BAD_URL") return "The URL cannot be decoded.";
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return "Send the body as JSON, with the header `Content-Type: application/json`.";
  }
  return error.message;
}

/** Returns the status of an error that Fastify or one of its plugins created for clients. Null for other errors. */
function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("statusCode" in error) || !("code" in error)) return null;
  const { statusCode, code } = error;
  const meantForClients = typeof code === "string" && code.startsWith("FST_");
  return meantForClients && typeof statusCode === "number" && statusCode >= 400 ? statusCode : null;
}

function pathOf(request: FastifyRequest): string {
  return (request.raw.url ?? "").replace(/[?#].*$/s, "");
}
