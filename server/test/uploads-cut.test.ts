import { randomBytes } from "node:crypto";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import * as tus from "tus-js-client";
import { expect, onTestFinished, test } from "vitest";
import { createTenant, shareService } from "./support/service.ts";
import { readRecording } from "./support/stored-recording.ts";

const service = shareService({ start: false });
const CUTS = 10;
const PIECE = 64 * 1024;

/** Stands before the service, and breaks a connection off in the middle of what it sends, so many times. */
async function startCuttingProxy(port: number): Promise<{ url: string; cuts: () => number }> {
  let cuts = 0;
  const open = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    let passed = 0;
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => open.delete(socket));
    }
    client.on("data", (chunk: Buffer) => {
      passed += chunk.length;
      server.write(chunk);
      if (passed < PIECE || cuts === CUTS) return;
      cuts += 1;
      passed = 0;
      // Once what was passed on has left for the service, so that every cut leaves some of it behind.
      server.end(() => client.destroy());
    });
    server.pipe(client);
    client.on("close", () => server.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cuts: () => cuts };
}

test.each([
  ["with a key", true],
  ["by the upload URL of a video, without a key", false],
] as const)(
  "an upload %s whose connection is cut ten times arrives whole with the stock client",
  async (_how, keyed) => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const proxy = await startCuttingProxy(Number(new URL(service.url).port));
    const file = randomBytes(3 * 1024 * 1024);
    const headers = { authorization: `Bearer ${tenant.key}` };
    const address = async (): Promise<Partial<tus.UploadOptions>> => {
      if (keyed) return { endpoint: `${proxy.url}/api/v1/uploads`, headers };
      const created = await fetch(`${service.url}/api/v1/videos`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ sizeBytes: file.length }),
      });
      const { upload } = (await created.json()) as { upload: { url: string } };
      return { uploadUrl: upload.url.replace(service.url, proxy.url) };
    };
    const options = await address();
    const url = await new Promise<string>((resolve, reject) => {
      const upload = new tus.Upload(file, {
        ...options,
        retryDelays: Array.from({ length: 2 * CUTS }, () => 10),
        onError: reject,
        onSuccess: () => resolve(upload.url ?? ""),
      });
      upload.start();
    });
    expect(proxy.cuts()).toBe(CUTS);
    const id = new URL(url).pathname.split("/").at(-1) ?? "";
    expect((await readRecording(service.service, id))?.equals(file)).toBe(true);
    const video = await fetch(`${service.url}/api/v1/videos/${id}`, { headers });
    expect(await video.json()).toMatchObject({ status: "uploaded", sizeBytes: file.length });
  },
);
