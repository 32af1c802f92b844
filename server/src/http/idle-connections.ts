import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Exempts a connection from the server's idle timeout while its request waits for the service, for example for the
 * database, the bucket or a queue.
 */
export function keepWaitingConnections(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw: request }, { raw: response }) => {
    // With this listener, Node no longer closes the connection itself.
    response.on("timeout", (socket: Socket) => {
      const hasArrived = request.complete || request.readableLength > 0;
      if (response.headersSent || !hasArrived) socket.destroy();
      else socket.setTimeout(socket.timeout ?? 0);
    });
  });
}
