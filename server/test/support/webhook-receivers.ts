import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";

export interface Receiver {
  port: number;
  url: URL;
  /** All connections so far. */
  connections: number;
  /** Connections that are open now. */
  open: Set<Socket>;
  close(): Promise<void>;
}

export interface HttpReceiver extends Receiver {
  requests: { method: string; target: string; headers: Record<string, unknown>; body: string }[];
}

/** A real HTTP server that records requests, then calls the listener. */
export async function startReceiver(listener: RequestListener, host = "127.0.0.1"): Promise<HttpReceiver> {
  const requests: HttpReceiver["requests"] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    requests.push({ method, target: url, headers, body: await text(request) });
    listener(request, response);
  });
  return Object.assign(await listen(server, host), { requests });
}

/** A real TCP server whose listener may send anything, not only HTTP. */
export function startRawReceiver(listener: (socket: Socket) => void, host = "127.0.0.1"): Promise<Receiver> {
  const server = createTcpServer((socket) => {
    listener(socket);
    // A socket that is not read never learns that the other side has disconnected.
    socket.resume();
  });
  return listen(server, host);
}

async function listen(server: Server, host: string): Promise<Receiver> {
  const open = new Set<Socket>();
  const receiver = { connections: 0, open };
  server.on("connection", (socket: Socket) => {
    receiver.connections += 1;
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    // Many of these tests have senders that disconnect early.
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://${host.includes(":") ? `[${host}]` : host}:${port}/hooks?a=1`);
  return Object.assign(receiver, {
    port,
    url,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  });
}
