import { createServer, request as forward, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface Refusal {
  status: number;
  code: string;
}

export interface S3Proxy {
  /** On 127.0.0.1. */
  readonly endpoint: string;
  /** Returns the error response for a request, or null to serve it. */
  refuse: (request: IncomingMessage) => Refusal | null;
}

/**
 * Starts an S3 server that refuses selected requests. It stops when the test ends.
 * @param target port of a local S3 server that serves all other requests. By default, objects are stored in memory, and
 *   only PUT, GET, HEAD and DELETE of whole objects are supported.
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
      const forwarded = forward({
        port: target,
        host: "127.0.0.1",
        method,
        path: request.url,
        headers,
        agent: false,
      });
      forwarded.on("response", (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        pipeline(upstream, response, () => {});
      });
      // Ignore errors after the response headers: some servers add a body to the response to a HEAD request.
      forwarded.on("error", () => response.headersSent || response.destroy());
      return void request.pipe(forwarded);
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
