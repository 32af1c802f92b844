import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Locker } from "@tus/utils";
import * as tus from "tus-js-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { requirePermission } from "../../src/api-keys/authorize.ts";
import { findApiKey } from "../../src/api-keys/queries.ts";
import { TokenLimits } from "../../src/api-keys/token-limits.ts";
import { createApp } from "../../src/http/app.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openDiskRecordingStore } from "../../src/storage/disk/disk-recording-store.ts";
import { openDiskUploadStore } from "../../src/uploads/disk-upload-store.ts";
import { registerUploads, UPLOADS_PATH } from "../../src/uploads/tus-endpoint.ts";
import { createUploadLocker } from "../../src/uploads/upload-locker.ts";
import { findVideo } from "../../src/videos/queries.ts";
import { createTenant, shareService, temporaryFolder } from "../support/service.ts";

const service = shareService({ start: false });
const bytes = Buffer.from("0123456789");

/** Loses its next lock after it was acquired and before a byte is written, like a lost connection. */
function createLosingLocker(): Locker & { loseNext(): void } {
  const local = createUploadLocker({ timeoutMs: 60_000 });
  let losing = false;
  return {
    loseNext() {
      losing = true;
    },
    newLock(id) {
      const lock = local.newLock(id);
      return {
        async lock(signal, requestRelease) {
          await lock.lock(signal, requestRelease);
          if (!losing) return;
          losing = false;
          await requestRelease();
          if (!signal.aborted) await once(signal, "abort");
        },
        unlock: () => lock.unlock(),
      };
    },
  };
}

/** Only the upload routes, with that locker, the service's database and a separate folder. */
async function serveUploads() {
  const { database, queue, log, config } = service.service.parts;
  const { kysely: db } = database;
  const folder = await temporaryFolder();
  const recordings = await openDiskRecordingStore(folder);
  const locker = createLosingLocker();
  const limits = new TokenLimits({ perSecond: 1_000, burst: 1_000 }, systemClock);
  const findKey = (id: string) => findApiKey(db, id);
  const authorize = requirePermission({ db, clock: systemClock, limits, findKey }, "create_video");
  const app = createApp({
    log,
    health: { check: async () => {} },
    draining: new AbortController().signal,
    trustProxy: false,
    publicUrl: config.publicUrl,
  });
  await registerUploads(app, {
    db,
    queue,
    clock: systemClock,
    recordings,
    store: openDiskUploadStore({ folder, db, recordings, expiryMs: 3_600_000, maxUploadBytes: 1e9 }),
    authorize,
    limits,
    maxUploadBytes: 1_000,
    locker,
    secret: new Uint8Array(32).fill(1),
    publicUrl: config.publicUrl,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { db, locker, url: `http://127.0.0.1:${port}${UPLOADS_PATH}` };
}

describe("a chunk whose lock is lost before it is written", () => {
  test("is a conflict, after which the offset is unchanged", async () => {
    const { url, locker } = await serveUploads();
    const { key } = await createTenant(service);
    const headers = { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0" };
    const created = await fetch(url, {
      method: "POST",
      headers: { ...headers, "upload-length": String(bytes.length) },
    });
    const address = new URL(created.headers.get("location") ?? "", url);
    const send = () =>
      fetch(address, {
        method: "PATCH",
        headers: { ...headers, "content-type": "application/offset+octet-stream", "upload-offset": "0" },
        body: bytes,
      });
    locker.loseNext();
    const lost = await send();
    expect([lost.status, await lost.json()]).toMatchObject([409, { code: "upload_conflict" }]);
    const { headers: uploadHeaders } = await fetch(address, { method: "HEAD", headers });
    expect(uploadHeaders.get("upload-offset")).toBe("0");
    expect((await send()).headers.get("upload-offset")).toBe(String(bytes.length));
  });

  test("is resent by the stock client to the same upload", async () => {
    const { db, url, locker } = await serveUploads();
    const { key } = await createTenant(service);
    const asked: string[] = [];
    const upload = await new Promise<tus.Upload>((resolve, reject) => {
      const sending = new tus.Upload(bytes, {
        endpoint: url,
        headers: { authorization: `Bearer ${key}` },
        retryDelays: [0, 0],
        onBeforeRequest(request) {
          if (request.getMethod() === "PATCH" && !asked.includes("PATCH")) locker.loseNext();
          asked.push(request.getMethod());
        },
        onSuccess: () => resolve(sending),
        onError: reject,
      });
      sending.start();
    });
    expect(asked).toEqual(["POST", "PATCH", "HEAD", "PATCH"]);
    const video = await findVideo(db, upload.url?.split("/").at(-1) ?? "");
    expect(video).toMatchObject({ size_bytes: bytes.length, uploaded_at: expect.any(Date) });
  });
});
