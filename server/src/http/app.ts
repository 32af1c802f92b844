import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import type { Logger } from "pino";
import type { TrustedProxies } from "../config/config.ts";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import { logLevelOf } from "../lib/outages.ts";
import { limitBodyDepth } from "./body-depth.ts";
import { refuseEncodedBodies } from "./body-encoding.ts";
import { limitBodyTime, type MinBodyRate, requireMinBodyRate } from "./body-timeout.ts";
import { registerProblems, sendProblem } from "./problems.ts";

const MAX_BODY_BYTES = 256 * 1024;
/** A connection without traffic is closed after this time, unless its request waits for the service. */
const IDLE_CONNECTION_MS = 60_000;
/** Limits the request line and all headers together. */
const MAX_HEADER_BYTES = 16 * 1024;
const READINESS_CACHE_MS = 1_000;
/** A readiness check that takes longer fails. */
const CHECK_TIMEOUT_MS = 5_000;
/** How long a client that sent invalid HTTP has to read the response before its connection is destroyed. */
const LINGER_MS = 2_000;

/** Load balancers and Prometheus request these every few seconds, so they are logged at debug level. */
const PROBE_ROUTES = new Set(["/healthz", "/readyz", "/metrics"]);

export interface Health {
  check(): Promise<void>;
}

/** Limits that apply before a client is authorized. */
export interface ConnectionLimits {
  headersTimeoutMs: number;
  /** Does not apply to streamed bodies. */
  bodyTimeoutMs: number;
  /** Streamed bodies have no time limit, because an upload may take hours. */
  minStreamedBodyRate: MinBodyRate;
  /** Further connections are closed immediately, because files and the database need file descriptors too. */
  maxConnections: number;
}

const CONNECTION_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 30_000,
  // A tenth of the speed of the slowest mobile networks. A slower client would occupy a connection and a lock without
  // real progress.
  minStreamedBodyRate: { bytes: 32 * 1024, everyMs: 60_000 },
  // The lowest hard limit in common use is 4096 file descriptors per process.
  maxConnections: 3_000,
};

/**
 * Restricts what a browser may do with a response. Routes for pages and files add their own headers.
 * @param httpsOnly tells browsers to use only https
 */
function securityHeaders(httpsOnly: boolean): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    ...(httpsOnly && { "strict-transport-security": "max-age=31536000" }),
  };
}

/**
 * Creates the HTTP application with everything that routes share, and its health checks.
 * @param publicUrl the URL at which browsers reach the service
 */
export function createApp({
  log,
  health,
  trustProxy,
  publicUrl,
  draining,
  limits = CONNECTION_LIMITS,
}: {
  log: Logger;
  health: Health;
  trustProxy: TrustedProxies;
  publicUrl: string;
  /** Aborted when draining begins. The service still responds to requests until it stops. */
  draining: AbortSignal;
  limits?: ConnectionLimits;
}): FastifyInstance {
  const secure = securityHeaders(publicUrl.startsWith("https:"));
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: MAX_BODY_BYTES,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: Math.ceil(limits.headersTimeoutMs / 4),
      // Node's own response is not a problem document; the hook below sends one.
      requireHostHeader: false,
    },
    connectionTimeout: IDLE_CONNECTION_MS,
    // An upload may take hours. The connection timeout ends an idle one, and the minimum rate ends a slow one.
    requestTimeout: 0,
    trustProxy: typeof trustProxy === "number" ? (_address, hop) => hop < trustProxy : trustProxy,
    forceCloseConnections: "idle",
    // Fastify's own response while closing is not a problem document; the hook below sends one.
    return503OnClosing: false,
    // Routes accept ids of any length, so that every unknown id gets the same 404.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    // For these errors, Fastify calls no hook that would add the headers.
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply.headers(secure)),
    clientErrorHandler: (error, socket) => respondToUnparsable(error, socket, secure),
  });
  app.server.maxConnections = limits.maxConnections;
  // A client that has closed its half of the connection may still be waiting for the response.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // By default, Node responds 417 without a problem document. RFC 9110 allows servers to ignore unknown expectations.
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  registerProblems(app);
  keepWaitingConnections(app);
  limitBodyTime(app, limits.bodyTimeoutMs);
  requireMinBodyRate(app, limits.minStreamedBodyRate);
  limitBodyDepth(app);
  refuseEncodedBodies(app);

  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  const closingSockets = new WeakSet<Socket>();
  app.addHook("onRequest", async (request, reply) => {
    const { socket, httpVersion, rawHeaders } = request.raw;
    // A pipelined request on a connection that is closing gets no response, so it must have no effect.
    if (closingSockets.has(socket)) return void reply.hijack();
    reply.header("x-request-id", request.id).headers(secure);
    // Makes the client open a new connection, which the load balancer sends to another process.
    if (draining.aborted || closing) {
      reply.header("connection", "close");
      closingSockets.add(socket);
    }
    if (closing) throw new AppError("service_unavailable", "The service is stopping.");
    if (httpVersion === "1.1" && request.headers.host === undefined) {
      throw new AppError("invalid_request", "An HTTP/1.1 request must have a `Host` header.");
    }
    // Node.js uses the first header. A proxy that uses the second one would interpret the request differently.
    for (const name of ["host", "authorization"]) {
      if (countHeaders(rawHeaders, name) > 1) {
        throw new AppError("invalid_request", `A request must not have more than one \`${name}\` header.`);
      }
    }
  });
  app.addHook("onResponse", async (request, reply) => {
    const level = PROBE_ROUTES.has(request.routeOptions.url ?? "") ? "debug" : "info";
    request.log[level]({ req: request, res: reply, ms: Math.round(reply.elapsedTime) }, "request");
  });

  app.get("/healthz", async (_request, reply) => {
    reply.header("cache-control", "no-store");
    if (draining.aborted) throw new AppError("service_unavailable", "The service is stopping.");
    return { status: "ok" };
  });
  let unreadySince: number | null = null;
  let readyLevel: "info" | "debug" = "info";
  let checked: { at: number; result: Promise<void> } | undefined;
  app.get("/readyz", async (_request, reply) => {
    reply.header("cache-control", "no-store");
    if (draining.aborted) throw new AppError("service_unavailable", "The service is stopping.");
    // The check writes and reads files, so frequent requests share one result.
    if (!checked || performance.now() - checked.at > READINESS_CACHE_MS) {
      checked = { at: performance.now(), result: within(CHECK_TIMEOUT_MS, health.check()) };
    }
    try {
      await checked.result;
    } catch (error) {
      if (unreadySince === null) {
        log[logLevelOf(error, "error")]({ err: error }, "the service is not ready");
        unreadySince = performance.now();
        readyLevel = logLevelOf(error, "info");
      }
      const isNamed = error instanceof AppError;
      const part = isNamed ? error.message : "A part of the service does not respond.";
      throw new AppError("service_unavailable", part, { cause: isNamed ? error.cause : error });
    }
    if (unreadySince !== null) {
      const seconds = Math.round((performance.now() - unreadySince) / 1000);
      log[readyLevel]({ seconds }, "the service is ready again");
      unreadySince = null;
    }
    if (closing) throw new AppError("service_unavailable", "The service is stopping.");
    return { status: "ready" };
  });
  return app;
}

/** @param rawHeaders alternating names and values */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}

async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const UNPARSABLE: Record<string, [AppErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: [
    "headers_too_large",
    "The request line and all headers together are limited to 16 KiB.",
  ],
  HPE_INVALID_EOF_STATE: ["invalid_request", "The connection closed before the request was complete."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request headers did not arrive in time."],
};

/** Responds to bytes that are not a valid HTTP request or exceed its limits. Fastify never sees such a request. */
function respondToUnparsable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Record<string, string>,
): void {
  // Node calls this again if the client sends more bytes.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, detail] = UNPARSABLE[error.code ?? ""] ?? [
    "invalid_request",
    "The request is not valid HTTP/1.1.",
  ];
  const { status, title } = new AppError(code, "");
  const body = JSON.stringify({
    type: `/docs/errors#${code}`,
    title,
    status,
    detail,
    instance: "",
    code,
    requestId: randomUUID(),
  });
  const lines = Object.entries({
    ...headers,
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join("")}\r\n${body}`);
  // Closing a connection with unread bytes resets it, possibly before the client has read the response.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Exempts a connection from the server's idle timeout while its request waits for the service, for example for the
 * database, the bucket or a queue.
 */
export function keepWaitingConnections(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw: request }, { raw: response }) => {
    // With this listener, Node no longer closes the connection itself.
    response.on("timeout", (socket: Socket) => {
      const hasArrived = request.complete || request.readableLength > 0;
      if (response.headersSent || !hasArrived) socket.destroy();
      else socket.setTimeout(socket.timeout ?? 0);
    });
  });
}
