import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export const CUTS = 10;
const CUT_AFTER_BYTES = 64 * 1024;

/** Starts a proxy that closes `CUTS` connections in the middle of their data. */
export async function startCuttingProxy(port: number): Promise<{ url: string; cuts: () => number }> {
  let cuts = 0;
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    let passed = 0;
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => open.delete(socket));
    }
    client.on("data", (chunk: Buffer) => {
      passed += chunk.length;
      server.write(chunk);
      if (passed < CUT_AFTER_BYTES || cuts === CUTS) return;
      cuts += 1;
      passed = 0;
      client.pause();
      // Flush the forwarded bytes first, so that the service receives some in every connection.
      server.end(() => client.destroy());
    });
    server.pipe(client);
    // `pipe` does not forward resets.
    server.on("error", () => client.destroy());
    client.on("close", () => server.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cuts: () => cuts };
}
