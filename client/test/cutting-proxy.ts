import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy that cuts each connection after a number of bytes from the client. */
export async function startCuttingProxy(port: number, cutAfterBytes: number[]) {
  const cuts = [...cutAfterBytes];
  const sockets = new Set<Socket>();
  let left = cuts.shift() ?? Number.POSITIVE_INFINITY;
  const proxy = { url: "", cutsLeft: () => cuts.length + (left === Number.POSITIVE_INFINITY ? 0 : 1) };
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          client.destroy();
          upstream.destroy();
          sockets.delete(socket);
        });
    }
    client.on("data", (chunk) => {
      left -= chunk.length;
      if (left > 0) {
        if (!upstream.write(chunk)) client.pause();
        return;
      }
      left = cuts.shift() ?? Number.POSITIVE_INFINITY;
      client.destroy();
    });
    upstream.on("drain", () => client.resume());
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
