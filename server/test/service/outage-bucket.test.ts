import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import {
  createTenant,
  readTranscription,
  startService,
  type Tenant,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { readRecording } from "../support/stored-recording.ts";
import { bucketEnv, makeTestBucket, testS3 } from "../support/test-bucket.ts";

const s3 = testS3();
const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");

/** Starts a service whose connection to its bucket can be disrupted. */
async function startBehindProxy(): Promise<{ service: TestService; proxy: TcpProxy }> {
  const name = `outage-${crypto.randomUUID()}`;
  await makeTestBucket(s3!, name);
  const proxy = await startTcpProxy({ port: Number(new URL(s3!.endpoint).port) });
  onTestFinished(() => proxy.close());
  const env = {
    ...bucketEnv(s3!, name),
    S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
    S3_PUBLIC_ENDPOINT: s3!.endpoint,
    LOG_LEVEL: "debug",
  };
  const service = await startService({ dataFolder: await temporaryFolder(), env });
  onTestFinished(() => proxy.pass());
  return { service, proxy };
}

const TUS = { "tus-resumable": "1.0.0" };

async function sendChunk({ url }: TestService, { key }: Tenant, path: string, offset: number, body: string) {
  return await fetch(`${url}${path}`, {
    method: "PATCH",
    headers: {
      ...TUS,
      authorization: `Bearer ${key}`,
      "upload-offset": String(offset),
      "content-type": "application/offset+octet-stream",
    },
    body,
  });
}

describe.skipIf(!s3)("a bucket that becomes unavailable and recovers", () => {
  test.each<[string, (proxy: TcpProxy) => Promise<void>]>([
    ["refuses connections", (proxy) => proxy.refuse()],
    ["is silent", (proxy) => proxy.hang()],
  ])(
    "%s: uploads get 503 and continue afterward, the API responds, and waiting videos are transcribed without a failed attempt",
    { timeout: 180_000 },
    async (_how, goAway) => {
      const { service, proxy } = await startBehindProxy();
      const tenant = await createTenant(service);
      const authorization = `Bearer ${tenant.key}`;
      const done = await upload(service, tenant, await readFile(SAMPLE));
      expect(await untilEnded(service, tenant, done)).toMatchObject({ status: "COMPLETED" });
      const silent = await createTenant(service, { aiTranscription: false });
      const created = await fetch(`${service.url}/api/v1/uploads`, {
        method: "POST",
        headers: { ...TUS, authorization: `Bearer ${silent.key}`, "upload-length": "8" },
      });
      const path = created.headers.get("location")!;
      expect((await sendChunk(service, silent, path, 0, "abcd")).status).toBe(204);
      const waiting = await upload(service, tenant, await readFile(SAMPLE));
      await until(
        async () => (await readTranscription(service, tenant, waiting)).body.status === "PROCESSING",
      );

      await goAway(proxy);
      const refused = await sendChunk(service, silent, path, 4, "efgh");
      expect([refused.status, await refused.json()]).toMatchObject([503, { code: "storage_unavailable" }]);
      expect(refused.headers.get("retry-after")).toBe("10");
      const many = await Promise.all(
        Array.from({ length: 50 }, () => sendChunk(service, silent, path, 4, "efgh")),
      );
      // Requests for the same upload wait for each other. One that waits too long gets upload_locked.
      for (const { status } of many) expect([503, 423]).toContain(status);
      expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
      // The database has the metadata, and the bucket serves the files.
      const { status, body } = await readTranscription(service, tenant, done);
      expect([status, body.status]).toEqual([200, "COMPLETED"]);
      expect((await fetch(body.files!.txt.url)).status).toBe(200);
      expect((await fetch(`${service.url}/api/v1/videos`, { headers: { authorization } })).status).toBe(200);
      await until(async () => /unavailable; retrying|attempt failed; will retry/.test(service.logged()));

      await proxy.pass();
      await until(async () => (await fetch(`${service.url}/readyz`)).status === 200);
      expect((await sendChunk(service, silent, path, 4, "efgh")).status).toBe(204);
      expect(await readRecording(service.service, path.split("/").at(-1)!)).toEqual(Buffer.from("abcdefgh"));
      expect(await untilEnded(service, tenant, waiting)).toMatchObject({ status: "COMPLETED" });
      const row = await service.service.parts.database.kysely
        .selectFrom("transcription")
        .select(["failure_count", "crash_count"])
        .where("video_id", "=", waiting)
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ failure_count: 0, crash_count: 0 });
    },
  );
});

if (!s3) {
  describe("a bucket that becomes unavailable", () => {
    test.skip("is not tested: TEST_S3 names no server", () => {});
  });
}
