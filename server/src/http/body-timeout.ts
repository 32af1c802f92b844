import { PassThrough, type Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route reads the request body as a stream. Such a body has a minimum rate instead of a time limit. */
    streamsBody?: boolean;
  }
}

export interface MinBodyRate {
  bytes: number;
  /** Period in which `bytes` must arrive. */
  everyMs: number;
}

/**
 * Closes the connection without a response if a streamed body arrives too slowly. Most clients resume after a lost
 * connection but give up after an error response. Received bytes are kept.
 */
export function requireMinBodyRate(app: FastifyInstance, { bytes, everyMs }: MinBodyRate): void {
  app.addHook("onRequest", async (request) => {
    if (!request.routeOptions.config?.streamsBody || !announcesBody(request)) return;
    const { raw } = request;
    const { socket } = raw;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      // A body that is not read to its end emits neither `end` nor `close`.
      if (raw.complete || socket.destroyed) return settle();
      const receivedBytes = socket.bytesRead - before;
      before = socket.bytesRead;
      // Unread bytes mean that the client is waiting for this service.
      if (receivedBytes >= bytes || raw.readableLength > 0) return;
      request.log.info(
        { receivedBytes, everyMs },
        "closed a connection whose request body arrived too slowly",
      );
      raw.destroy();
    }, everyMs).unref();
    const settle = () => clearInterval(timer);
    raw.once("end", settle).once("close", settle);
  });
}

/**
 * Responds with `request_timeout` if a body that Fastify reads does not arrive in time. Otherwise, a client could keep
 * a connection open forever by sending single bytes.
 */
export function limitBodyTime(app: FastifyInstance, timeoutMs: number): void {
  const readers = new WeakMap<FastifyRequest, PassThrough>();

  // The timer starts in the first hook, because the body may keep arriving after a later hook has rejected the request.
  app.addHook("onRequest", async (request, reply) => {
    if (!fastifyReadsBody(request)) return;
    const timer = setTimeout(() => {
      const reader = readers.get(request);
      if (reply.raw.writableEnded || !reader) {
        request.raw.destroy();
        return;
      }
      reply.header("connection", "close");
      reader.destroy(new AppError("request_timeout", "The request body did not arrive in time."));
    }, timeoutMs);
    const settle = () => clearTimeout(timer);
    request.raw.once("end", settle).once("close", settle);
  });

  app.addHook("preParsing", async (request, reply, payload: Readable) => {
    if (!fastifyReadsBody(request)) return payload;
    const reader = new PassThrough();
    // If Fastify refuses the body because of its type or length, no other listener handles errors.
    reader.on("error", () => {});
    readers.set(request, reader);
    payload.once("error", (cause) =>
      reader.destroy(
        new AppError("invalid_request", "The connection closed before the body was complete.", { cause }),
      ),
    );
    // Discards the rest of a refused body, so that the connection can be reused.
    reply.raw.once("finish", () => payload.unpipe(reader).resume());
    return payload.pipe(reader);
  });
}

function fastifyReadsBody(request: FastifyRequest): boolean {
  return !request.routeOptions.config?.streamsBody && announcesBody(request);
}

function announcesBody({ headers }: FastifyRequest): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
