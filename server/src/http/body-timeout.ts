import { PassThrough, type Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route reads its body by itself, for as long as it takes while enough of it comes. */
    streamsBody?: boolean;
  }
}

/** The least that must come of a body that takes as long as it takes. */
export interface BodyFloor {
  bytes: number;
  /** In every stretch of so long. */
  everyMs: number;
}

/**
 * Cuts the connection where a body that is streamed all but stands still, as it is cut where nothing comes at
 * all: what came is kept, and whoever sent it may resume. An answer would end the upload in most clients.
 */
export function limitBodySlowness(app: FastifyInstance, { bytes, everyMs }: BodyFloor): void {
  app.addHook("onRequest", async (request) => {
    if (!request.routeOptions.config?.streamsBody || !announcesBody(request)) return;
    const { raw } = request;
    const { socket } = raw;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      // Nothing more can come. Of a body that nobody read to its end, neither its end nor its close is told.
      if (raw.complete || socket.destroyed) return settle();
      const came = socket.bytesRead - before;
      before = socket.bytesRead;
      // What came and was not taken yet waits for this service: for its disk, its bucket or its turn.
      if (came >= bytes || raw.readableLength > 0) return;
      request.log.info({ came, everyMs }, "a connection is cut: hardly anything comes of its body");
      raw.destroy();
    }, everyMs).unref();
    const settle = () => clearInterval(timer);
    raw.once("end", settle).once("close", settle);
  });
}

/**
 * Answers `request_timeout` where a body that is read whole has not come to its end in time: one byte now and
 * then would keep a connection busy for ever.
 */
export function limitBodyTime(app: FastifyInstance, timeoutMs: number): void {
  /** Where bodies are read from that are being read. */
  const readers = new WeakMap<FastifyRequest, PassThrough>();

  // From the very first, for a request that is refused by its headers has a body still to come.
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
    // Nobody reads it where the body is refused by its type or length.
    reader.on("error", () => {});
    readers.set(request, reader);
    payload.once("error", (cause) =>
      reader.destroy(
        new AppError("invalid_request", "The connection closed before the body was complete.", { cause }),
      ),
    );
    // What is left of a body that was refused is passed over, so that the connection can be used again.
    reply.raw.once("finish", () => payload.unpipe(reader).resume());
    return payload.pipe(reader);
  });
}

/** One that Fastify reads. */
function hasBody(request: FastifyRequest): boolean {
  return !request.routeOptions.config?.streamsBody && announcesBody(request);
}

function announcesBody({ headers }: FastifyRequest): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}
