import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How the network between the proxy's clients and its target is. */
type Weather = "pass" | "hang" | { delayMs: number };

/** A network on the way to a TCP service on this machine, which can be made bad and good again at any time. */
export interface TcpProxy {
  /** On 127.0.0.1; it stays the same until `close`. */
  readonly port: number;
  /** Connections that are open through the proxy now. */
  connections(): number;
  /** Ends all faults: stalled connections resume without losing data. */
  pass(): Promise<void>;
  /** Resets every connection that is open; new ones are taken. */
  cut(): void;
  /** A black hole: connections stay open and are taken, and nothing comes through either way. */
  hang(): Promise<void>;
  /** Each piece of at most 64 KiB waits so long, in both directions. */
  slow(delayMs: number): Promise<void>;
  /** Resets open connections and refuses new ones, as if no process listened. */
  refuse(): Promise<void>;
  close(): Promise<void>;
}

/** Starts in fair weather. The caller closes it. */
export async function startTcpProxy(target: { host?: string; port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let weather: Weather = "pass";
  let changed = Promise.withResolvers<void>();
  let server: Server | null = null;

  const moving = async () => {
    while (weather === "hang") await changed.promise;
  };
  const fair = async () => {
    await moving();
    if (typeof weather === "object") await sleep(weather.delayMs);
    // It may have turned bad meanwhile.
    await moving();
  };

  const carry = async (from: Socket, to: Socket) => {
    for await (const piece of from) {
      await fair();
      if (!to.write(piece)) await once(to, "drain");
    }
    await fair();
    to.end();
  };

  const take = async (client: Socket) => {
    open.add(client);
    client.on("error", () => {}).on("close", () => open.delete(client));
    await fair();
    if (client.destroyed) return;
    const upstream = connect({ host: target.host ?? "127.0.0.1", port: target.port, allowHalfOpen: true });
    const reset = (socket: Socket) => void (socket.destroyed || socket.resetAndDestroy());
    client.on("error", () => reset(upstream)).on("close", () => upstream.destroy());
    upstream.on("error", () => reset(client)).on("close", () => client.destroySoon());
    // The handlers above already close the other side.
    await Promise.allSettled([carry(client, upstream), carry(upstream, client)]);
  };

  const listen = async (port: number) => {
    server = createServer({ allowHalfOpen: true }, (client) => void take(client));
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };

  const cut = () => {
    for (const client of open) client.resetAndDestroy();
  };

  const become = async (next: Weather) => {
    weather = next;
    changed.resolve();
    changed = Promise.withResolvers();
    if (!server) await listen(port);
  };

  const refuse = async () => {
    const listening = server;
    server = null;
    const closed = listening && new Promise((resolve) => listening.close(resolve));
    cut();
    await closed;
  };

  await listen(0);
  const { port } = server!.address() as AddressInfo;
  return {
    port,
    connections: () => open.size,
    pass: () => become("pass"),
    cut,
    hang: () => become("hang"),
    slow: (delayMs) => become({ delayMs }),
    refuse,
    async close() {
      await become("pass");
      await refuse();
    },
  };
}
