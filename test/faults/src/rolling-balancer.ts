import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

const CHECK_EVERY_MS = 500;
/** Longer than the service takes to detect that one of its stores does not respond. */
const CHECK_TIMEOUT_MS = 6_000;
/** How long a connection is held while no process is ready, as balancers do. */
const WAIT_FOR_ONE_MS = 30_000;

/** A round-robin TCP load balancer for the processes whose /healthz returns 200, as docs/deploy.md describes. */
export interface Balancer {
  readonly url: string;
  /** The same processes, at the end of a slow line. */
  readonly slowUrl: string;
  /** Resolves when the process on this port gets connections. */
  untilReady(port: number): Promise<void>;
  close(): Promise<void>;
}

/** @param slowBytesPerSecond what the slow line carries from the client */
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

  /** Null where none is ready in time. A process that does not take the connection is passed over. */
  const reachOne = async (): Promise<Socket | null> => {
    const givesUpAt = performance.now() + WAIT_FOR_ONE_MS;
    while (performance.now() < givesUpAt && !isClosed) {
      const candidates = [...ready];
      const port = candidates[turn++ % candidates.length];
      const upstream = port === undefined ? null : connect(port, "127.0.0.1");
      if (upstream) {
        const reached = await once(upstream, "connect").then(
          () => true,
          () => false,
        );
        if (reached) return upstream;
      }
      await sleep(50);
    }
    return null;
  };

  const take = async (client: Socket, bytesPerSecond: number) => {
    open.add(client);
    client.on("close", () => open.delete(client)).on("error", () => {});
    const upstream = await reachOne();
    if (!upstream) {
      client.destroy();
      return;
    }
    upstream.on("error", () => {});
    const slowed = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        await sleep((piece.length / bytesPerSecond) * 1000);
        yield piece;
      }
    };
    const up = Number.isFinite(bytesPerSecond)
      ? pipeline(client, slowed, upstream)
      : pipeline(client, upstream);
    // If one side ends, the other ends too; the client reports the cause.
    await Promise.allSettled([up, pipeline(upstream, client)]);
  };

  const listen = async (bytesPerSecond: number): Promise<Server> => {
    const server = createServer((client) => void take(client, bytesPerSecond)).listen(0, "127.0.0.1");
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
