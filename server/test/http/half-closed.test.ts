import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { whileConnected } from "../../src/http/while-connected.ts";
import { newId } from "../../src/lib/ids.ts";
import { readUntilClosed } from "../support/read-until-closed.ts";
import { createTenant, shareService } from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";

const service = shareService({ start: false });

/** Sends everything and closes its half of the connection, as simple clients do. */
async function sendAll(head: string[], body: Buffer = Buffer.alloc(0)): Promise<string> {
  const socket = connect(service.service.parts.config.port, "127.0.0.1");
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\nHost: x\r\n\r\n`), body]));
  return await readUntilClosed(socket);
}

test("a client that closes its half of the connection after its request gets the response", async () => {
  const { key } = await createTenant(service);
  const answer = await sendAll(["GET /api/v1/videos HTTP/1.1", `Authorization: Bearer ${key}`]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("an event stream ends when its reader closes its half of the connection", async () => {
  const { environmentId } = await createTenant(service);
  const { commandLineToken } = service.service.parts;
  const answer = await sendAll([
    `GET /internal/environments/${environmentId}/videos/changes HTTP/1.1`,
    `Authorization: Bearer ${commandLineToken}`,
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test("a review of the store ends when its client closes its half of the connection", async () => {
  await writeRecording(service.service, newId("video"), "content");
  const { commandLineToken } = service.service.parts;
  const answer = await sendAll([
    "POST /internal/storage-review HTTP/1.1",
    `Authorization: Bearer ${commandLineToken}`,
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test("long work stops when the client closes its half of the connection, as a process that ends does", async () => {
  const stopped = Promise.withResolvers<void>();
  const server = createServer(async (request) => {
    await whileConnected(request, async (signal) => {
      client.end();
      await once(signal, "abort");
    });
    stopped.resolve();
  });
  Object.assign(server, { httpAllowHalfOpen: true });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await stopped.promise;
});

test.each(["/file-check", "/storage-review"])("%s leaves no listeners on its connection", async (path) => {
  const { app, commandLineToken, config } = service.service.parts;
  const sockets: Socket[] = [];
  app.server.on("connection", (socket: Socket) => sockets.push(socket));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const send = async () => {
    const headers = { authorization: `Bearer ${commandLineToken}` };
    const options = { agent, host: "127.0.0.1", port: config.port, path: `/internal${path}`, headers };
    const [response] = (await once(request({ ...options, method: "POST" }).end(), "response")) as [
      IncomingMessage,
    ];
    expect(response.statusCode).toBe(200);
    await once(response.resume(), "end");
    return ["end", "close"].map((event) => sockets[0]!.listenerCount(event));
  };
  const before = await send();
  expect(await send()).toEqual(before);
  expect(sockets).toHaveLength(1);
});

test.each([1, 100_000, 6_000_000])(
  "an upload of %d bytes is stored if its sender closes its half of the connection after the last byte",
  async (sizeBytes) => {
    const { key } = await createTenant(service, { aiTranscription: false });
    const authorization = `Bearer ${key}`;
    const created = await fetch(`${service.url}/api/v1/videos`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ sizeBytes }),
    });
    const { video, upload } = (await created.json()) as { video: { id: string }; upload: { url: string } };
    const { pathname, search } = new URL(upload.url);
    const recording = randomBytes(sizeBytes);
    const answer = await sendAll(
      [
        `PATCH ${pathname}${search} HTTP/1.1`,
        "Tus-Resumable: 1.0.0",
        "Upload-Offset: 0",
        "Content-Type: application/offset+octet-stream",
        `Content-Length: ${sizeBytes}`,
      ],
      recording,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 204 /);
    expect((await readRecording(service.service, video.id))?.equals(recording)).toBe(true);
    const response = await fetch(`${service.url}/api/v1/videos/${video.id}`, { headers: { authorization } });
    expect(await response.json()).toMatchObject({ status: "uploaded" });
  },
);
