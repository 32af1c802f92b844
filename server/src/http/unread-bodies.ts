import type { FastifyInstance } from "fastify";

/**
 * For routes that Fastify is not to read the body of: whatever it calls itself, it is no reason to refuse a
 * request. What nobody has read at the end closes the connection, which could be kept only by reading it.
 *
 * @param keptType the media type that the routes judge by themselves
 */
export function leaveBodiesAlone(app: FastifyInstance, keptType: string | null = null): FastifyInstance {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", async ({ headers }) => {
    // A malformed one would be refused before the route is asked.
    if (headers["content-type"] !== keptType) delete headers["content-type"];
  });
  return app.addHook("onSend", async (request, reply) => {
    if (!request.raw.complete) reply.header("connection", "close");
  });
}
