import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import type { Logger } from "pino";
import type { TrustedProxies } from "../config/config.ts";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import { logLevelOf } from "../lib/outages.ts";
import { limitBodyDepth } from "./body-depth.ts";
import { refuseEncodedBodies } from "./body-encoding.ts";
import { type BodyFloor, limitBodySlowness, limitBodyTime } from "./body-timeout.ts";
import { registerProblems, sendProblem } from "./problems.ts";

const MAX_BODY_BYTES = 256 * 1024;
/** A connection on which nothing moves for so long is closed, whatever it was doing. */
const IDLE_CONNECTION_MS = 60_000;
/** All headers and the request line of one request. */
const MAX_HEADER_BYTES = 16 * 1024;
const CHECK_HOLDS_MS = 1_000;
/** Who asks whether the service is ready asks again soon, and takes no answer for a no. */
const CHECK_TIMEOUT_MS = 5_000;
/** How long a client that sent no HTTP may go on sending while it is told so. */
const LINGER_MS = 2_000;

/** Asked every few seconds, by machines. */
const PROBE_ROUTES = new Set(["/healthz", "/readyz", "/metrics"]);

export interface Health {
  /** Throws where the service can not do its work now. */
  check(): Promise<void>;
}

/** What a client may take of the service without having shown a key. */
export interface ConnectionLimits {
  /** How long a request's headers may take, from the connection or the request before. */
  headersTimeoutMs: number;
  /** How long a body may take that is read whole. */
  bodyTimeoutMs: number;
  /** What must come of a body that may take hours. */
  streamedBodyFloor: BodyFloor;
  /** More are closed at once; the descriptors that are left are for files and the database. */
  maxConnections: number;
}

const CONNECTION_LIMITS: ConnectionLimits = {
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 30_000,
  // A tenth of what the slowest mobile networks bring; whoever sends less holds a connection and a lock, not an upload.
  streamedBodyFloor: { bytes: 32 * 1024, everyMs: 60_000 },
  // Hard limits of 4096 descriptors a process are the lowest in common use.
  maxConnections: 3_000,
};

/**
 * What a browser may make of an answer: nothing but read it. Pages and files say themselves what else they need.
 * @param httpsAlone whether browsers may forget that there is plain http
 */
function securityHeaders(httpsAlone: boolean): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    ...(httpsAlone && { "strict-transport-security": "max-age=31536000" }),
  };
}

/**
 * The HTTP application with what every route needs; routes are added by the composition root.
 * @param publicUrl where browsers reach it
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
  /** Aborted when the service is to stop but answers for a while yet. */
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
      // Node's own refusal is no problem document; the hook below gives one.
      requireHostHeader: false,
    },
    connectionTimeout: IDLE_CONNECTION_MS,
    // An upload's request may take hours; a stalled one is ended by the limit above, a dripping one by its floor.
    requestTimeout: 0,
    trustProxy: typeof trustProxy === "number" ? (_address, hop) => hop < trustProxy : trustProxy,
    forceCloseConnections: "idle",
    // Its own answer while closing is no problem document; the hook below gives one.
    return503OnClosing: false,
    // An id of any length is the route's to judge: what is not there is 404, however it is spelt.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    // No hook is called for these.
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply.headers(secure)),
    clientErrorHandler: (error, socket) => answerUnparsable(error, socket, secure),
  });
  app.server.maxConnections = limits.maxConnections;
  // Whoever has said all, and closes that half of the connection, may still wait for the answer.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // Node would answer 417 by itself, which is no problem document; what is not known may be passed over.
  app.server.on("checkExpectation", (request, response) => app.routing(request, response));
  registerProblems(app);
  limitBodyTime(app, limits.bodyTimeoutMs);
  limitBodySlowness(app, limits.streamedBodyFloor);
  limitBodyDepth(app);
  refuseEncodedBodies(app);

  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  const ending = new WeakSet<Socket>();
  app.addHook("onRequest", async (request, reply) => {
    const { socket, httpVersion, rawHeaders } = request.raw;
    // One more, sent before the last answer of its connection was there, gets none: so nothing is done for it.
    if (ending.has(socket)) return void reply.hijack();
    reply.header("x-request-id", request.id).headers(secure);
    // On a connection of its own, the next request goes to a process that stays.
    if (draining.aborted || closing) {
      reply.header("connection", "close");
      ending.add(socket);
    }
    if (closing) throw new AppError("service_unavailable", "The service is stopping.");
    if (httpVersion === "1.1" && request.headers.host === undefined) {
      throw new AppError("invalid_request", "A request of HTTP/1.1 has a `Host` header.");
    }
    // Node.js uses the first one. A proxy that used the other would have interpreted the request differently.
    for (const name of ["host", "authorization"]) {
      if (countHeaders(rawHeaders, name) > 1) {
        throw new AppError("invalid_request", `A request has only one \`${name}\` header.`);
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
    // The check writes and reads; nobody who asks more often may make it do so.
    if (!checked || performance.now() - checked.at > CHECK_HOLDS_MS) {
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
      const part = isNamed ? error.message : "A part of the service does not answer.";
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

/** @param rawHeaders names and values in turn */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}

async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const UNPARSABLE: Record<string, [AppErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The address and all headers together may hold 16 KiB."],
  HPE_INVALID_EOF_STATE: ["invalid_request", "The connection closed before the request was complete."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request's headers did not come to their end in time."],
};

/** For bytes that are no HTTP request, or too much of one, where there is no request to answer. */
function answerUnparsable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Record<string, string>,
): void {
  // What a client sends on after it was answered is reported here again.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, detail] = UNPARSABLE[error.code ?? ""] ?? ["invalid_request", "This is not HTTP/1.1."];
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
  // Closed with bytes unread, the connection would be reset before the client has seen the answer.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
