import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

/** Refuses compressed bodies of every route whose body Fastify parses. A route that streams its body checks it itself. */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook("preParsing", async (request, _reply, payload) => {
    const isParsed =
      request.headers["content-type"] !== undefined && !request.routeOptions.config?.streamsBody;
    if (isParsed) refuseEncodedBody(request);
    return payload;
  });
}

/**
 * Nothing here decompresses a body, and a recording would be stored compressed.
 * @throws AppError `unsupported_media_type`
 */
export function refuseEncodedBody({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase();
  if (!encoding || encoding === "identity") return;
  throw new AppError(
    "unsupported_media_type",
    "Send the body as it is, without compression and without the `Content-Encoding` header.",
    { headers: { "accept-encoding": "identity" } },
  );
}
