import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

type Network = "pass" | "hang" | { delayMs: number };

/** A proxy for a TCP service that can disrupt connections and end the disruption at any time. */
export interface TcpProxy {
  /** On 127.0.0.1. Does not change until `close`. */
  readonly port: number;
  connections(): number;
  /** Ends all faults: stalled connections resume without losing data. */
  pass(): Promise<void>;
  /** Resets open connections. New connections are accepted. */
  cut(): void;
  /** Keeps connections open and accepts new ones, but transfers nothing in either direction. */
  hang(): Promise<void>;
  /** Delays each chunk of at most 64 KiB in both directions. */
  slow(delayMs: number): Promise<void>;
  /** Resets open connections and refuses new ones, as if no process listened. */
  refuse(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy, which the caller must close. */
export async function startTcpProxy(target: { host?: string; port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let network: Network = "pass";
  let changed = Promise.withResolvers<void>();
  let server: Server | null = null;

  const untilNotHung = async () => {
    while (network === "hang") await changed.promise;
  };
  const passNetwork = async () => {
    await untilNotHung();
    if (typeof network === "object") await sleep(network.delayMs);
    // The connection may have started to hang during the delay.
    await untilNotHung();
  };

  const relay = async (from: Socket, to: Socket) => {
    for await (const chunk of from) {
      await passNetwork();
      if (!to.write(chunk)) await once(to, "drain");
    }
    await passNetwork();
    to.end();
  };

  const accept = async (client: Socket) => {
    open.add(client);
    client.on("error", () => {}).on("close", () => open.delete(client));
    await passNetwork();
    if (client.destroyed) return;
    const upstream = connect({ host: target.host ?? "127.0.0.1", port: target.port, allowHalfOpen: true });
    const reset = (socket: Socket) => void (socket.destroyed || socket.resetAndDestroy());
    client.on("error", () => reset(upstream)).on("close", () => upstream.destroy());
    upstream.on("error", () => reset(client)).on("close", () => client.destroySoon());
    // The handlers above close the other side on an error.
    await Promise.allSettled([relay(client, upstream), relay(upstream, client)]);
  };

  const listen = async (port: number) => {
    server = createServer({ allowHalfOpen: true }, (client) => void accept(client));
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };

  const cut = () => {
    for (const client of open) client.resetAndDestroy();
  };

  const setNetwork = async (next: Network) => {
    network = next;
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
    pass: () => setNetwork("pass"),
    cut,
    hang: () => setNetwork("hang"),
    slow: (delayMs) => setNetwork({ delayMs }),
    refuse,
    async close() {
      await setNetwork("pass");
      await refuse();
    },
  };
}
