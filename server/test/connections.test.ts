import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { shareService } from "./support/service.ts";

const MAX_CONNECTIONS = 20;
const service = shareService({
  start: false,
  connectionLimits: { headersTimeoutMs: 400, bodyTimeoutMs: 400, maxConnections: MAX_CONNECTIONS },
});

const open = (bytes: string) => {
  const socket = connect(service.service.parts.config.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
};

test("headers that do not come to their end are answered request_timeout, however they drip", async () => {
  const socket = open("GET /healthz HTTP/1.1\r\nHost: x\r\n");
  const drip = setInterval(() => socket.write("X-A: b\r\n"), 50);
  const answer = await text(socket);
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "request_timeout" });
});

test("a body that drips after it was refused ends with its connection", async () => {
  const socket = open(
    "POST /api/v1/videos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
  );
  const drip = setInterval(() => socket.write(" "), 50);
  const answer = await text(socket);
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});

test("connections over the limit are closed, those that are there are served, and then others again", async () => {
  const first = open("");
  const others = Array.from({ length: MAX_CONNECTIONS * 3 }, () => open(""));
  const closed = others.map(
    (socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())),
  );
  await Promise.race(closed);
  first.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(await text(first)).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of others) socket.destroy();
  await Promise.all(closed);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
});
