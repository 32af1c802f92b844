import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { expect, test } from "vitest";
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
