import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Starts a proxy that closes connections in the middle of their data.
 * @param cutAfterBytes bytes from clients before each cut, counted from the previous one
 */
export async function startCuttingProxy(
  port: number,
  cutAfterBytes: readonly number[],
): Promise<{ url: string; cutsLeft: () => number }> {
  const cuts = [...cutAfterBytes];
  const open = new Set<Socket>();
  let passed = 0;
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => open.delete(socket));
    }
    client.on("data", (chunk: Buffer) => {
      passed += chunk.length;
      server.write(chunk);
      if (cuts[0] === undefined || passed < cuts[0]) return;
      cuts.shift();
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
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cutsLeft: () => cuts.length };
}
