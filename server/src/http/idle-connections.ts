import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Keeps a connection on which no bytes pass open while its request waits for this service: for its database, its bucket
 * or its queue. Any other connection ends with the idle timeout of the server.
 */
export function keepWaitingConnections(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw: request }, { raw: response }) => {
    // Because of this listener, Node leaves it to the listener to close the connection.
    response.on("timeout", (socket: Socket) => {
      const hasArrived = request.complete || request.readableLength > 0;
      if (response.headersSent || !hasArrived) socket.destroy();
      else socket.setTimeout(socket.timeout ?? 0);
    });
  });
}
