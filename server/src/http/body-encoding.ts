import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

/**
 * Refuses compressed bodies on every route whose body Fastify parses. Routes that stream their body must call
 * `refuseEncodedBody`.
 */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook("preParsing", async (request, _reply, payload) => {
    const isParsed =
      request.headers["content-type"] !== undefined && !request.routeOptions.config?.streamsBody;
    if (isParsed) refuseEncodedBody(request);
    return payload;
  });
}

/**
 * Refuses a compressed body, because the service would store a compressed recording as is.
 * @throws AppError `unsupported_media_type`
 */
export function refuseEncodedBody({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase();
  if (!encoding || encoding === "identity") return;
  throw new AppError(
    "unsupported_media_type",
    "Send the body without compression and without the `Content-Encoding` header.",
    { headers: { "accept-encoding": "identity" } },
  );
}
