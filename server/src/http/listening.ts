import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

const CLOSE_CONNECTIONS_AFTER_MS = 3_000;

/** Stops listening. Closes connections whose requests do not complete within a few seconds. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  // An upload may take hours. Its client resumes it after the restart.
  const closeTimer = setTimeout(() => app.server.closeAllConnections(), CLOSE_CONNECTIONS_AFTER_MS);
  await app.close();
  clearTimeout(closeTimer);
}

/** Returns the server's URL for clients on this machine. */
export function localUrl({ server }: FastifyInstance): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (address === "::") return `http://[::1]:${port}`;
  return family === "IPv6" ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
