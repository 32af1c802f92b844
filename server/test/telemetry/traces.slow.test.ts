import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { traceIdsOf } from "../../src/telemetry/traces/trace-ids.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import {
  createTenant,
  startService,
  type Tenant,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { bucketEnv, makeTestBucket, testS3 } from "../support/test-bucket.ts";
import { makeTestDatabase } from "../support/test-database.ts";
import { type CollectedSpan, startCollector } from "../support/trace-collector.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Two seconds of speech. */
const speech = () => readFile(join(ROOT, "speech/test/fixtures/speech/english-1.wav"));

const traced = (url: string, more: Record<string, string> = {}) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  ...more,
});

async function addEndpoint({ service }: TestService, { environmentId }: Tenant) {
  const { database, endpointPolicy: policy } = service.parts;
  const receiver = await startVerifyingReceiver();
  const { secret } = await createWebhookEndpoint(
    { db: database.kysely, clock: systemClock, policy },
    { environmentId, url: receiver.url },
  );
  receiver.trust(secret);
  return receiver;
}

/** The spans as a tree of names, in the order in which they began. */
function treeOf(spans: CollectedSpan[], parentSpanId = ""): unknown[] {
  const sorted = spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .sort((a, b) => a.startMs - b.startMs);
  return sorted.map(({ name, spanId }) => {
    const inside = treeOf(spans, spanId);
    return inside.length === 0 ? name : [name, ...inside];
  });
}

/** Invariants of the trace of a video that was transcribed and announced. */
function expectWholeTrace(spans: CollectedSpan[], transcriptionId: string): void {
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
    new Set([traceIdsOf(transcriptionId).traceId]),
  );
  const [tree] = treeOf(spans) as unknown[][];
  expect(tree?.[0]).toBe("upload");
  expect(treeOf(spans)).toHaveLength(1);
  expect(tree?.slice(1).map((each) => [each].flat()[0])).toEqual([
    "accept",
    "queue",
    "transcribe",
    "deliver",
  ]);
  const transcribe = tree?.find((each) => Array.isArray(each)) as string[];
  expect(transcribe.slice(1).sort()).toEqual(["decode", "fetch", "recognize", "store"]);
  for (const { startMs, endMs, failed } of spans) {
    expect(endMs).toBeGreaterThanOrEqual(startMs);
    expect(failed).toBe(false);
  }
}

describe("a trace", () => {
  test("leads from the upload to the delivery, across processes", async () => {
    const collector = await startCollector();
    const env = traced(collector.url, { OTEL_EXPORTER_OTLP_HEADERS: "x-key=hush" });
    const dataFolder = await temporaryFolder();
    const first = await startService({ dataFolder, env, start: false });
    const tenant = await createTenant(first);
    const metadata = { filename: "Ada Lovelace, interview.mp4", speaker: "ada@example.com" };
    const videoId = await upload(first, tenant, await speech(), { metadata });
    const receiver = await addEndpoint(first, tenant);
    await first.service.stop();

    const second = await startService({ dataFolder, env });
    const { id } = await untilEnded(second, tenant, videoId);
    await until(async () => receiver.received[0]);
    await second.service.stop();

    expectWholeTrace(collector.spans, id);
    const senders = Map.groupBy(collector.spans, ({ resource }) => resource["service.instance.id"]);
    expect([...senders.values()].map((spans) => spans.map(({ name }) => name).sort())).toEqual([
      ["accept", "upload"],
      ["decode", "deliver", "fetch", "queue", "recognize", "store", "transcribe"],
    ]);
    expect(collector.spans[0]?.resource).toMatchObject({ "service.name": "subtext" });
    expect(collector.headers[0]).toMatchObject({ "x-key": "hush" });
    const sent = JSON.stringify(collector.spans);
    expect(sent).toContain(videoId);
    for (const secret of ["Ada", "example.com", "mp4", receiver.url, tenant.key]) {
      expect(sent).not.toContain(secret);
    }
  });

  test("records what failed and why", async () => {
    const collector = await startCollector();
    const service = await startService({ env: traced(collector.url) });
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("no video at all"));
    expect((await untilEnded(service, tenant, videoId)).status).toBe("FAILED");
    await service.service.stop();
    const attempt = collector.spans.find(({ name }) => name === "transcribe");
    expect(attempt).toMatchObject({
      failed: true,
      attributes: { "subtext.attempt.outcome": "failed", "subtext.attempt.reason": "unreadable_media" },
    });
  });

  test("is not sent if it is not sampled", async () => {
    const collector = await startCollector();
    const service = await startService({ env: traced(collector.url, { OTEL_TRACES_SAMPLER_ARG: "0" }) });
    const tenant = await createTenant(service);
    await untilEnded(service, tenant, await upload(service, tenant, Buffer.from("no video at all")));
    await service.service.stop();
    expect(collector.spans).toEqual([]);
  });

  test("that cannot be sent has no other effect", async () => {
    const collector = await startCollector();
    const service = await startService({ env: traced(`${collector.url}/elsewhere`) });
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("no video at all"));
    expect((await untilEnded(service, tenant, videoId)).status).toBe("FAILED");
    await service.service.stop();
    expect(service.logged()).toContain("spans could not be sent to the collector");
    expect(service.logged()).not.toContain("a shutdown step failed");
  });
});

const s3 = testS3();
const database = process.env.TEST_DATABASE_URL;

describe.skipIf(!s3 || !database)("a trace over an api and a worker process", () => {
  test("is a single trace", { timeout: 60_000 }, async () => {
    const collector = await startCollector();
    const name = `traced-${randomUUID()}`;
    await makeTestBucket(s3!, name);
    const shared = {
      DATABASE_URL: await makeTestDatabase(database!, name.replaceAll("-", "_")),
      ...bucketEnv(s3!, name),
      ...traced(collector.url),
    };
    const start = async (role: "api" | "worker") =>
      await startService({ dataFolder: await temporaryFolder(), env: { ...shared, ROLE: role } });
    const [api, worker] = [await start("api"), await start("worker")];
    const tenant = await createTenant(api);
    const receiver = await addEndpoint(api, tenant);
    const { id } = await untilEnded(api, tenant, await upload(api, tenant, await speech()));
    await until(async () => receiver.received[0]);
    await Promise.all([api.service.stop(), worker.service.stop()]);
    expectWholeTrace(collector.spans, id);
  });
});
