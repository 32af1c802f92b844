import type { FastifyInstance } from "fastify";
import { Histogram, type Registry } from "prom-client";

const BUCKETS = [0.005, 0.025, 0.1, 0.25, 1, 5, 30];
/** Other methods are counted together. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Groups requests by route pattern, because URLs contain identifiers. */
export function measureRequests(registry: Registry): (app: FastifyInstance) => void {
  const seconds = new Histogram({
    name: "subtext_http_request_seconds",
    help: "Response times of requests by route pattern (`none` if no route matches) and status class. `_count` is the number of requests. Uploads count with their full duration.",
    labelNames: ["method", "route", "status"],
    buckets: BUCKETS,
    registers: [registry],
  });
  return (app) => {
    app.addHook("onResponse", async (request, reply) => {
      seconds.observe(
        {
          method: METHODS.has(request.method) ? request.method : "other",
          route: (!request.is404 && request.routeOptions.url) || "none",
          status: `${Math.trunc(reply.statusCode / 100)}xx`,
        },
        reply.elapsedTime / 1000,
      );
    });
  };
}
