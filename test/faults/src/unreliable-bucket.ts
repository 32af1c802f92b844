import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { Random } from "./seeded.ts";

/** Responses of an S3 server that is overloaded or faulty. */
const SLOW_DOWN = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>`;
const INTERNAL_ERROR = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>`;

export interface UnreliableBucket {
  readonly port: number;
  /** 0 … 1 of the requests are answered with an error; of those, half are carried out all the same. */
  failing: number;
  close(): void;
}

/** A proxy for a working S3 server that fails a given share of the requests. */
export async function startUnreliableBucket(
  target: { port: number },
  random: Random,
): Promise<UnreliableBucket> {
  const relay = (request: IncomingMessage, answered: (response: IncomingMessage) => void) => {
    const { method, url, headers } = request;
    const onward = forward(
      { host: "127.0.0.1", port: target.port, method, path: url, headers, agent: false },
      answered,
    );
    request.pipe(onward);
    request.on("error", () => onward.destroy());
    return onward;
  };
  const fail = (response: ServerResponse) => {
    if (response.headersSent || response.destroyed) return;
    const busy = random() < 0.5;
    response.writeHead(busy ? 503 : 500, { "content-type": "application/xml" });
    response.end(busy ? SLOW_DOWN : INTERNAL_ERROR);
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    if (random() >= bucket.failing) {
      const onward = relay(request, (answer) => {
        // The client is gone: killed or disconnected.
        if (response.destroyed) return answer.destroy();
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, response, () => {});
      });
      // Once there is a response, later errors do not count: some servers add a body to the response to a HEAD.
      onward.on("error", () => response.headersSent || response.destroy());
    } else if (random() < 0.5) {
      // The worst kind of error: the request succeeded.
      relay(request, (answer) => answer.resume().on("end", () => fail(response))).on("error", () =>
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
