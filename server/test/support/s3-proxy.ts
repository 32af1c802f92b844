import { createServer, request as forward, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** An S3 error response: its status, and the code in its body. */
export interface Refusal {
  status: number;
  code: string;
}

export interface S3Proxy {
  /** On 127.0.0.1. */
  readonly endpoint: string;
  /** The error to refuse a request with; null to let it through. */
  refuse: (request: IncomingMessage) => Refusal | null;
}

/**
 * An S3 server that refuses the requests that a test selects; closed when the test ends.
 * @param target the port of the server on this machine that serves all other requests; without it, objects are stored
 *   in memory, and only PUT, GET, HEAD and DELETE of whole objects are served
 */
export async function startS3Proxy(target?: number): Promise<S3Proxy> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const { method = "", headers } = request;
    const path = (request.url ?? "").split("?")[0]!;
    const refuse = ({ status, code }: Refusal) =>
      response
        .writeHead(status, { "content-type": "application/xml", connection: "close" })
        .end(method === "HEAD" ? "" : `<Error><Code>${code}</Code><Message>Refused.</Message></Error>`);
    const refusal = proxy.refuse(request);
    if (refusal) return void refuse(refusal);
    if (target !== undefined) {
      const onward = forward({
        port: target,
        host: "127.0.0.1",
        method,
        path: request.url,
        headers,
        agent: false,
      });
      onward.on("response", (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, response, () => {});
      });
      // Errors after the response do not count: some servers add a body to the response to a HEAD.
      onward.on("error", () => response.headersSent || response.destroy());
      return void request.pipe(onward);
    }
    const body = await buffer(request);
    const object = method === "GET" || method === "HEAD" ? objects.get(path) : undefined;
    if (method === "PUT") objects.set(path, body);
    else if (method === "DELETE") objects.delete(path);
    else if (object === undefined) return void refuse({ status: 404, code: "NoSuchKey" });
    response.writeHead(method === "DELETE" ? 204 : 200, {
      etag: '"an etag"',
      ...(object && { "content-length": object.length }),
    });
    response.end(method === "GET" ? object : undefined);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const proxy: S3Proxy = { endpoint: `http://127.0.0.1:${port}`, refuse: () => null };
  return proxy;
}
