import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { readUntilClosed } from "../support/read-until-closed.ts";
import { createTenant, shareService } from "../support/service.ts";

const MAX_CONNECTIONS = 20;
const service = shareService({
  start: false,
  connectionLimits: {
    headersTimeoutMs: 400,
    bodyTimeoutMs: 400,
    minStreamedBodyRate: { bytes: 100, everyMs: 1_000 },
    maxConnections: MAX_CONNECTIONS,
  },
});

const open = (bytes: string) => {
  const socket = connect(service.service.parts.config.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
};

test("slow headers that never end get request_timeout", async () => {
  const socket = open("GET /healthz HTTP/1.1\r\nHost: x\r\n");
  const drip = setInterval(() => socket.write("X-A: b\r\n"), 50);
  const answer = await text(socket);
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "request_timeout" });
});

test("the connection of a refused request is closed although its body is still arriving", async () => {
  const socket = open(
    "POST /api/v1/videos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
  );
  const drip = setInterval(() => socket.write(" "), 50);
  const answer = await readUntilClosed(socket);
  clearInterval(drip);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});

test("an HTTP/1.1 request without a Host header gets invalid_request; HTTP/1.0 needs none", async () => {
  const answer = await readUntilClosed(open("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"));
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer.toLowerCase()).toContain("content-type: application/problem+json");
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "invalid_request" });
  expect(await readUntilClosed(open("GET /healthz HTTP/1.0\r\n\r\n"))).toMatch(/^HTTP\/1\.1 200 /);
});

/** Sends the head of a PATCH to a new upload; returns the socket and a function that reads the offset. */
async function beginUpload(sizeBytes: number) {
  const { key } = await createTenant(service, { aiTranscription: false });
  const authorization = `Bearer ${key}`;
  const created = await fetch(`${service.url}/api/v1/videos`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ sizeBytes }),
  });
  const { upload } = (await created.json()) as { upload: { url: string } };
  const { pathname, search } = new URL(upload.url);
  const socket = open(
    `PATCH ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`,
  );
  const offset = async () => {
    const response = await fetch(upload.url, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } });
    return Number(response.headers.get("upload-offset"));
  };
  return { socket, offset };
}

test("an upload that arrives too slowly is cut off, keeps the received bytes, and yields to the request that resumes it", async () => {
  const { socket, offset } = await beginUpload(1_000_000);
  let sent = 0;
  const drip = setInterval(() => {
    sent += socket.write("x") ? 1 : 0;
  }, 50);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(drip);
  const received = await offset();
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThanOrEqual(sent);
});

test("a slow upload that makes progress completes, although it takes many times the idle timeout", async () => {
  const { socket, offset } = await beginUpload(40_000);
  const answer = readUntilClosed(socket);
  for (let sent = 0; sent < 40_000; sent += 1_000) {
    socket.write("x".repeat(1_000));
    await new Promise((resolve) => setTimeout(resolve, 75));
  }
  expect(await answer).toMatch(/^HTTP\/1\.1 204 /);
  expect(await offset()).toBe(40_000);
});

test("connections over the limit are closed, existing ones are served, and new ones are accepted once others close", async () => {
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
