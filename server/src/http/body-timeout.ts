import { PassThrough, type Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route reads its body by itself, for as long as it takes. */
    streamsBody?: boolean;
  }
}

/**
 * Answers `request_timeout` where a body that is read whole has not come to its end in time: one byte now and
 * then would keep a connection busy for ever.
 */
export function limitBodyTime(app: FastifyInstance, timeoutMs: number): void {
  app.addHook("preParsing", async (request, reply, payload: Readable) => {
    if (request.routeOptions.config?.streamsBody) return payload;
    const { "content-length": length, "transfer-encoding": encoding } = request.headers;
    if (encoding === undefined && (length === undefined || length === "0")) return payload;
    const limited = new PassThrough();
    // Nobody reads it where the body is refused by its headers alone.
    limited.on("error", () => {});
    const timer = setTimeout(() => {
      if (reply.raw.writableEnded) {
        request.raw.destroy();
        return;
      }
      reply.header("connection", "close");
      limited.destroy(new AppError("request_timeout", "The request's body did not come to its end in time."));
    }, timeoutMs);
    const settle = () => clearTimeout(timer);
    payload.once("end", settle).once("close", settle);
    payload.once("error", (error) => limited.destroy(error));
    // What is left of a body that was refused is passed over, so that the connection can be used again.
    reply.raw.once("finish", () => payload.unpipe(limited).resume());
    return payload.pipe(limited);
  });
}
