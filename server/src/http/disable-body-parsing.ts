import type { FastifyInstance } from "fastify";

/**
 * Keeps Fastify from parsing the bodies of these routes and from refusing their media types. Closes the connection
 * after a response that was sent before the body was read, because unread bytes prevent its reuse.
 *
 * @param keptType the media type that the routes check themselves
 */
export function disableBodyParsing(app: FastifyInstance, keptType: string | null = null): FastifyInstance {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", async ({ headers }) => {
    // Fastify refuses a malformed media type before it calls the route.
    if (headers["content-type"] !== keptType) delete headers["content-type"];
  });
  return app.addHook("onSend", async (request, reply) => {
    if (!request.raw.complete) reply.header("connection", "close");
  });
}
