import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { fastify } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { keepWaitingConnections } from "../../src/http/app.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

/** Returns the port of a server that closes idle connections after `connectionTimeout` milliseconds. */
async function listen(answer: Answer, connectionTimeout = 50) {
  const app = fastify({ connectionTimeout, forceCloseConnections: true });
  onTestFinished(() => app.close());
  keepWaitingConnections(app);
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  app.route({
    method: ["GET", "PUT"],
    url: "/",
    handler: (request, reply) => answer(request.raw, reply.raw),
  });
  return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
}

function open(port: number, bytes: string) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
}

const HEAD_OF_PUT = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Type: video/mp4\r\nContent-Length: 100\r\n\r\n";

test("a complete request gets its response, however long the response takes", async () => {
  const port = await listen(async (request) => {
    await once(request.resume(), "end");
    request.socket.emit("timeout");
    return "late";
  }, 60_000);
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("late");
});

test("a body that waits for the service to read it is received, however long it waits", async () => {
  const port = await listen(async (request) => {
    await once(request, "readable");
    request.socket.emit("timeout");
    return (await buffer(request)).length;
  }, 60_000);
  const body = "x".repeat(4 * 1024 ** 2);
  const headers = { "content-type": "video/mp4" };
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "PUT", body, headers });
  expect(await response.json()).toBe(body.length);
});

test.each([
  ["has begun", `${HEAD_OF_PUT}x`],
  ["has not begun", HEAD_OF_PUT],
])("a connection is closed if a body that %s stops arriving", async (_, bytes) => {
  const port = await listen((request) => buffer(request));
  await once(open(port, bytes).resume(), "close");
});

test("a connection is closed if its client does not read the response", async () => {
  const closed = Promise.withResolvers<void>();
  const port = await listen(async (_request, response) => {
    response.once("close", closed.resolve);
    response.write(Buffer.alloc(64 * 1024 ** 2));
    await closed.promise;
  });
  const socket = open(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await closed.promise;
  socket.destroy();
});
