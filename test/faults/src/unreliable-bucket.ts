import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { Random } from "@subtext/bench/seeded";

const SLOW_DOWN = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>`;
const INTERNAL_ERROR = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>`;

export interface UnreliableBucket {
  readonly port: number;
  /** Share of requests that get an error response, 0 … 1. Half of them are carried out nevertheless. */
  failing: number;
  close(): void;
}

/** Starts a proxy that fails a share of the requests to an S3 server. */
export async function startUnreliableBucket(
  target: { port: number },
  random: Random,
): Promise<UnreliableBucket> {
  const relay = (request: IncomingMessage, onResponse: (response: IncomingMessage) => void) => {
    const { method, url, headers } = request;
    const forwarded = forward(
      { host: "127.0.0.1", port: target.port, method, path: url, headers, agent: false },
      onResponse,
    );
    request.pipe(forwarded);
    request.on("error", () => forwarded.destroy());
    return forwarded;
  };
  const fail = (response: ServerResponse) => {
    if (response.headersSent || response.destroyed) return;
    const isOverloaded = random() < 0.5;
    response.writeHead(isOverloaded ? 503 : 500, { "content-type": "application/xml" });
    response.end(isOverloaded ? SLOW_DOWN : INTERNAL_ERROR);
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    if (random() >= bucket.failing) {
      const forwarded = relay(request, (upstream) => {
        // The client was killed or has disconnected.
        if (response.destroyed) return upstream.destroy();
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        pipeline(upstream, response, () => {});
      });
      // Ignore errors after the response headers: some servers add a body to the response to a HEAD request.
      forwarded.on("error", () => response.headersSent || response.destroy());
    } else if (random() < 0.5) {
      // The request succeeds, but the client gets an error response.
      relay(request, (upstream) => upstream.resume().on("end", () => fail(response))).on("error", () =>
        fail(response),
      );
    } else {
      request.resume().on("end", () => fail(response));
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const bucket = {
    port: (server.address() as AddressInfo).port,
    failing: 0,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return bucket;
}
