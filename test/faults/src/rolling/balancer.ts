import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_EVERY_MS = 500;
/** Longer than the service takes to detect that one of its stores does not respond. */
const CHECK_TIMEOUT_MS = 6_000;
/** How long a connection waits while no process is ready. */
const QUEUE_TIMEOUT_MS = 30_000;

/** A round-robin TCP load balancer for the processes whose /healthz returns 200, as docs/deploy.md describes. */
export interface Balancer {
  readonly url: string;
  /** The same processes over a slow connection. */
  readonly slowUrl: string;
  /** Resolves when the balancer considers the process on this port ready. */
  untilReady(port: number): Promise<void>;
  close(): Promise<void>;
}

/** @param slowBytesPerSecond upload bandwidth of the slow connection */
export async function startBalancer(
  ports: readonly number[],
  { slowBytesPerSecond }: { slowBytesPerSecond: number },
): Promise<Balancer> {
  const ready = new Set<number>();
  const open = new Set<Socket>();
  let turn = 0;
  let isClosed = false;

  const check = async (port: number) => {
    while (!isClosed) {
      const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
      const isReady = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.ok;
        },
        () => false,
      );
      if (isReady) ready.add(port);
      else ready.delete(port);
      await sleep(CHECK_EVERY_MS);
    }
  };

  /** Connects to the next ready process that accepts the connection. Returns null after the timeout. */
  const connectToReady = async (): Promise<Socket | null> => {
    const deadline = performance.now() + QUEUE_TIMEOUT_MS;
    while (performance.now() < deadline && !isClosed) {
      const candidates = [...ready];
      const port = candidates[turn++ % candidates.length];
      const upstream = port === undefined ? null : connect(port, "127.0.0.1");
      if (upstream) {
        const isConnected = await once(upstream, "connect").then(
          () => true,
          () => false,
        );
        if (isConnected) return upstream;
      }
      await sleep(50);
    }
    return null;
  };

  const relay = async (client: Socket, bytesPerSecond: number) => {
    open.add(client);
    client.on("close", () => open.delete(client)).on("error", () => {});
    const upstream = await connectToReady();
    if (!upstream) {
      client.destroy();
      return;
    }
    upstream.on("error", () => {});
    const slowed = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        await sleep((chunk.length / bytesPerSecond) * 1000);
        yield chunk;
      }
    };
    const up = Number.isFinite(bytesPerSecond)
      ? pipeline(client, slowed, upstream)
      : pipeline(client, upstream);
    // If one side fails, `pipeline` closes the other side too, and the client reports the error.
    await Promise.allSettled([up, pipeline(upstream, client)]);
  };

  const listen = async (bytesPerSecond: number): Promise<Server> => {
    const server = createServer((client) => void relay(client, bytesPerSecond)).listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  };

  const checks = ports.map(check);
  const servers = [await listen(Number.POSITIVE_INFINITY), await listen(slowBytesPerSecond)];
  const [url, slowUrl] = servers.map(
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
  return {
    url: url!,
    slowUrl: slowUrl!,
    async untilReady(port) {
      while (!ready.has(port)) await sleep(CHECK_EVERY_MS / 5);
    },
    async close() {
      isClosed = true;
      for (const server of servers) server.close();
      for (const client of open) client.destroy();
      await Promise.all(checks);
    },
  };
}
