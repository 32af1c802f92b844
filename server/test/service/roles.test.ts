import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FindingView } from "../../src/admin/contract/system.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { parseMetrics } from "../support/parse-metrics.ts";
import {
  createTenant,
  type StartOptions,
  startService,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { bucketEnv, makeTestBucket, testS3 } from "../support/test-bucket.ts";
import { makeTestDatabase } from "../support/test-database.ts";

const s3 = testS3();
const server = process.env.TEST_DATABASE_URL;
const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
const METRICS_TOKEN = "a-token-of-the-tests";
const TUS = { "tus-resumable": "1.0.0" };

/** Starts processes that share one database and one bucket, each with its own data folder. */
async function createFleet() {
  const name = `fleet-${randomUUID()}`;
  await makeTestBucket(s3!, name);
  const env = {
    DATABASE_URL: await makeTestDatabase(server!, name.replaceAll("-", "_")),
    ...bucketEnv(s3!, name),
    METRICS_TOKEN,
  };
  return async (role: "api" | "worker", options: StartOptions = {}): Promise<TestService> =>
    await startService({ ...options, dataFolder: await temporaryFolder(), env: { ...env, ROLE: role } });
}

describe.skipIf(!s3 || !server)("several processes on one database and one bucket", () => {
  test("share the work: one takes the upload, another transcribes it, and any reports it", {
    timeout: 120_000,
  }, async () => {
    const start = await createFleet();
    const [api, other, worker] = await Promise.all([start("api"), start("api"), start("worker")]);
    const tenant = await createTenant(api);
    const videoId = await upload(api, tenant, await readFile(SAMPLE));
    const ended = await untilEnded(other, tenant, videoId);
    expect(ended.status).toBe("COMPLETED");
    const vtt = await fetch(ended.files!.vtt.url);
    expect(await vtt.text()).toMatch(/^WEBVTT/);

    expect((await fetch(`${worker.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${worker.url}/api/v1/videos`)).status).toBe(404);
  });

  test("write to one upload in turn, and each continues where the other stopped", async () => {
    const start = await createFleet();
    const [one, other] = await Promise.all([start("api"), start("api")]);
    const tenant = await createTenant(one, { aiTranscription: false });
    const authorization = `Bearer ${tenant.key}`;
    const created = await fetch(`${one.url}/api/v1/uploads`, {
      method: "POST",
      headers: { ...TUS, authorization, "upload-length": "8" },
    });
    const path = created.headers.get("location")!;
    const patch = async ({ url }: TestService, offset: number, body: string | ReadableStream) =>
      await fetch(`${url}${path}`, {
        method: "PATCH",
        headers: {
          ...TUS,
          authorization,
          "upload-offset": String(offset),
          "content-type": "application/offset+octet-stream",
        },
        body,
        ...(typeof body !== "string" && { duplex: "half" }),
      });
    // A slow request is terminated as soon as another process wants to write to the upload.
    const slowBody = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode("abc")),
    });
    const cut = patch(one, 0, slowBody).catch(() => null);
    const offset = await until(async () => {
      const head = await fetch(`${other.url}${path}`, { method: "HEAD", headers: { ...TUS, authorization } });
      return head.headers.get("upload-offset") === "3" && 3;
    });
    await cut;
    expect((await patch(other, offset, "defg")).headers.get("upload-offset")).toBe("7");
    expect((await patch(one, 7, "h")).status).toBe(204);
    const video = await fetch(`${other.url}/api/v1/videos/${path.split("/").at(-1)}`, {
      headers: { authorization },
    });
    expect(await video.json()).toMatchObject({ sizeBytes: 8 });
  });

  test("report whether a worker is running", async () => {
    const start = await createFleet();
    const api = await start("api");
    const tenant = await createTenant(api);
    await upload(api, tenant, await readFile(SAMPLE));
    // A command also opens the service, but does not run jobs.
    await start("worker", { purpose: "command", start: false });
    const report = async () => {
      const { data } = (await sendAsCommandLine(api, "/doctor")).json<{ data: FindingView[] }>();
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
      const { samples } = parseMetrics(await (await fetch(`${api.url}/metrics`, { headers })).text());
      return {
        status: data.find(({ name }) => name === "workers")!.status,
        metric: samples.find(({ name }) => name === "subtext_workers")?.value,
      };
    };
    expect(await report()).toEqual({ status: "missing", metric: 0 });
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    await start("worker");
    // The metric is cached for five seconds.
    await until(async () => {
      const { status, metric } = await report();
      return status === "ok" && metric === 1;
    });
  });

  test("refuse a bucket that belongs to another database", async () => {
    const name = `taken-${randomUUID()}`;
    await makeTestBucket(s3!, name);
    const startOn = async () => {
      const DATABASE_URL = await makeTestDatabase(server!, `db_${randomUUID().replaceAll("-", "_")}`);
      return await startService({
        dataFolder: await temporaryFolder(),
        env: { DATABASE_URL, ...bucketEnv(s3!, name) },
      });
    };
    await startOn();
    await expect(startOn()).rejects.toMatchObject({ code: "data_folder_mismatch" });
  });
});

if (!s3 || !server) {
  describe("several processes", () => {
    test.skip("are not tested: TEST_S3 and TEST_DATABASE_URL do not both name a server", () => {});
  });
}
