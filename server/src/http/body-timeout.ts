import { PassThrough, type Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route reads its body itself, for as long as enough bytes arrive. */
    streamsBody?: boolean;
  }
}

/** The minimum rate of a body without a time limit. */
export interface BodyFloor {
  bytes: number;
  /** In every period of this length. */
  everyMs: number;
}

/**
 * Closes the connection if a streamed body arrives too slowly, as for an idle one. Received bytes are kept, and the
 * client can resume. A response would end the upload in most clients.
 */
export function limitBodySlowness(app: FastifyInstance, { bytes, everyMs }: BodyFloor): void {
  app.addHook("onRequest", async (request) => {
    if (!request.routeOptions.config?.streamsBody || !announcesBody(request)) return;
    const { raw } = request;
    const { socket } = raw;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      // Nothing more can arrive. A body that was not read to its end emits neither `end` nor `close`.
      if (raw.complete || socket.destroyed) return settle();
      const came = socket.bytesRead - before;
      before = socket.bytesRead;
      // Bytes that arrived but were not read yet wait for this service: for its disk, its bucket or its queue.
      if (came >= bytes || raw.readableLength > 0) return;
      request.log.info({ came, everyMs }, "a connection is cut: hardly anything comes of its body");
      raw.destroy();
    }, everyMs).unref();
    const settle = () => clearInterval(timer);
    raw.once("end", settle).once("close", settle);
  });
}

/**
 * Answers `request_timeout` if a body that is read as a whole does not arrive in time. Otherwise, single bytes could
 * keep a connection busy forever.
 */
export function limitBodyTime(app: FastifyInstance, timeoutMs: number): void {
  /** Bodies that are being read, by their source. */
  const readers = new WeakMap<FastifyRequest, PassThrough>();

  // From the start, because a request that is refused by its headers still has a body to come.
  app.addHook("onRequest", async (request, reply) => {
    if (!hasBody(request)) return;
    const timer = setTimeout(() => {
      const reader = readers.get(request);
      if (reply.raw.writableEnded || !reader) {
        request.raw.destroy();
        return;
      }
      reply.header("connection", "close");
      reader.destroy(new AppError("request_timeout", "The request's body did not come to its end in time."));
    }, timeoutMs);
    const settle = () => clearTimeout(timer);
    request.raw.once("end", settle).once("close", settle);
  });

  app.addHook("preParsing", async (request, reply, payload: Readable) => {
    if (!hasBody(request)) return payload;
    const reader = new PassThrough();
    // Nobody reads a body that was refused by its type or length.
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

/** A body that Fastify reads. */
function hasBody(request: FastifyRequest): boolean {
  return !request.routeOptions.config?.streamsBody && announcesBody(request);
}

function announcesBody({ headers }: FastifyRequest): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
