import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

const CLOSE_CONNECTIONS_AFTER_MS = 3_000;

/** Stops listening, and closes connections whose requests do not complete soon. */
export async function closeApp(app: FastifyInstance): Promise<void> {
  // An upload may take hours; its client resumes it after the restart.
  const closeTimer = setTimeout(() => app.server.closeAllConnections(), CLOSE_CONNECTIONS_AFTER_MS);
  await app.close();
  clearTimeout(closeTimer);
}

/** Returns the URL at which this machine reaches the listening server. */
export function localUrl({ server }: FastifyInstance): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (address === "::") return `http://[::1]:${port}`;
  return family === "IPv6" ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
