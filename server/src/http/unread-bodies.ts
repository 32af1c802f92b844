import type { FastifyInstance } from "fastify";

/**
 * For routes whose body Fastify must not read: no media type is a reason to refuse the request. If the body is still
 * unread at the end, the connection is closed, because it could be reused only after reading it.
 *
 * @param keptType the media type that the routes check themselves
 */
export function leaveBodiesAlone(app: FastifyInstance, keptType: string | null = null): FastifyInstance {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", async ({ headers }) => {
    // Fastify would refuse a malformed one before the route is called.
    if (headers["content-type"] !== keptType) delete headers["content-type"];
  });
  return app.addHook("onSend", async (request, reply) => {
    if (!request.raw.complete) reply.header("connection", "close");
  });
}
