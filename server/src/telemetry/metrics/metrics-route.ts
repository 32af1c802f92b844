import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../lib/errors.ts";

/** Requires the token from `METRICS_TOKEN`. */
export function registerMetricsRoute(
  app: FastifyInstance,
  { token, scrape }: { token: string; scrape: () => Promise<{ contentType: string; text: string }> },
): void {
  const expected = digest(`Bearer ${token}`);
  app.get("/metrics", async (request, reply) => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ""), expected)) {
      throw new AppError("metrics_token_invalid", "Send the token of METRICS_TOKEN as a bearer token.", {
        headers: { "www-authenticate": "Bearer" },
      });
    }
    const { contentType, text } = await scrape();
    return await reply.header("cache-control", "no-store").type(contentType).send(text);
  });
}

/** `timingSafeEqual` requires equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
