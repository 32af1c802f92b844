import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { parseMetrics, type Sample } from "../support/parse-metrics.ts";
import {
  createTenant,
  shareService,
  startService,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";

const FIXTURES = join(import.meta.dirname, "../../../speech/test/fixtures");
const METRICS_TOKEN = "a-token-of-the-tests";
const service = shareService({ env: { METRICS_TOKEN } });

async function scrape({ url }: TestService): Promise<{ text: string; samples: Sample[] }> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  return { text, samples: parseMetrics(text).samples };
}

/** Sums the samples by the given labels, without zeros. */
function sumBy(samples: Sample[], name: string, ...labels: string[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const sample of samples.filter((each) => each.name === name && each.value !== 0)) {
    const key = labels.map((label) => sample.labels[label]).join(" ");
    sums[key] = (sums[key] ?? 0) + sample.value;
  }
  return sums;
}

test("the counters match the database", { timeout: 120_000 }, async () => {
  const db = service.service.parts.database.kysely;
  const tenant = await createTenant(service);
  const receiver = await startVerifyingReceiver();
  receiver.answers.push(503);
  const { secret } = await createWebhookEndpoint(
    { db, clock: systemClock, policy: service.service.parts.endpointPolicy },
    {
      environmentId: tenant.environmentId,
      url: receiver.url,
      eventTypes: ["transcriptions.transcription.completed", "transcriptions.transcription.skipped"],
    },
  );
  receiver.trust(secret);
  const files = [
    await readFile(join(FIXTURES, "speech/english-1.wav")),
    await readFile(join(FIXTURES, "speech/english-2.wav")),
    await readFile(join(FIXTURES, "media/video-only.mp4")),
    Buffer.from("no video at all"),
  ];
  for (const file of files) await untilEnded(service, tenant, await upload(service, tenant, file));
  const deliveryAttempts = () => db.selectFrom("delivery_attempt").selectAll().execute();
  const { samples, text } = await until(async () => {
    const metrics = await scrape(service);
    const made = Object.values(sumBy(metrics.samples, "subtext_webhook_attempts_total"))[0];
    // Updated only every few seconds.
    const waiting = Object.keys(sumBy(metrics.samples, "subtext_queue_deliveries", "status"));
    return made === 4 && waiting.length === 0 && metrics;
  });

  const attempts = await db.selectFrom("transcription_attempt").selectAll().execute();
  expect(attempts).toHaveLength(4);
  expect(sumBy(samples, "subtext_transcription_attempts_total", "outcome", "reason")).toEqual({
    "completed ": 2,
    "skipped no_audio_track": 1,
    "failed unreadable_media": 1,
  });
  const completed = await db
    .selectFrom("transcription")
    .selectAll()
    .where("status", "=", "COMPLETED")
    .execute();
  const totals = { words: 0, seconds: 0, work: 0 };
  for (const { word_count, duration, stages } of completed) {
    totals.words += word_count ?? 0;
    totals.seconds += duration ?? 0;
    totals.work += stages?.total ?? 0;
  }
  const engine = completed[0]?.engine ?? "";
  expect(totals.words).toBeGreaterThan(4);
  expect(sumBy(samples, "subtext_transcribed_words_total", "engine")).toEqual({ [engine]: totals.words });
  const media = sumBy(samples, "subtext_transcribed_media_seconds_total", "engine");
  expect(media[engine]).toBeCloseTo(totals.seconds, 6);
  const work = sumBy(samples, "subtext_transcribing_seconds_total", "engine");
  expect(work[engine]).toBeCloseTo(totals.work, 6);
  expect(sumBy(samples, "subtext_transcription_realtime_factor_count", "engine")).toEqual({ [engine]: 2 });
  expect(sumBy(samples, "subtext_transcription_stage_seconds_count", "stage")).toEqual({
    queue: 4,
    ...Object.fromEntries(
      ["probe", "decode", "voice_activity", "engine", "speech_to_text", "store", "attempt"].map((stage) => [
        stage,
        2,
      ]),
    ),
  });
  const queued = attempts.map(
    ({ queued_at, started_at }) => (started_at.getTime() - queued_at.getTime()) / 1000,
  );
  const queueSeconds = samples.find(
    ({ name, labels }) => name === "subtext_transcription_stage_seconds_sum" && labels.stage === "queue",
  );
  expect(queueSeconds?.value).toBeCloseTo(
    queued.reduce((sum, seconds) => sum + seconds, 0),
    6,
  );

  expect(sumBy(samples, "subtext_webhook_attempts_total", "outcome", "answer")).toEqual({
    "delivered 2xx": 3,
    "retried 5xx": 1,
  });
  const latency = (await deliveryAttempts()).reduce((sum, { latency_ms }) => sum + latency_ms / 1000, 0);
  const seconds = sumBy(samples, "subtext_webhook_attempt_seconds_sum");
  expect(seconds[""]).toBeCloseTo(latency, 6);
  expect(sumBy(samples, "subtext_webhook_first_attempt_delay_seconds_count")).toEqual({ "": 3 });

  const requests = sumBy(samples, "subtext_http_request_seconds_count", "method", "route", "status");
  expect(requests["POST /api/v1/uploads 2xx"]).toBe(4);
  expect(requests["GET /api/v1/videos/:videoId/transcription 2xx"]).toBeGreaterThanOrEqual(4);

  expect(sumBy(samples, "subtext_queue_transcriptions", "status")).toEqual({});
  expect(sumBy(samples, "subtext_database_up")).toEqual({ "": 1 });
  expect(sumBy(samples, "subtext_child_processes", "kind").speech).toBe(1);
  expect(sumBy(samples, "subtext_speech_process_starts_total")).toEqual({ "": 1 });
  expect(sumBy(samples, "process_resident_memory_bytes")[""]).toBeGreaterThan(50e6);
  expect(text).not.toMatch(/(video|transcription|env|event|endpoint|delivery|key|operator)_[0-9a-z]{26}/);
});

describe("the metrics", () => {
  test.each([
    [undefined, 401],
    ["Bearer ", 401],
    [`Bearer ${METRICS_TOKEN}x`, 401],
    [METRICS_TOKEN, 401],
    [`Bearer ${METRICS_TOKEN}`, 200],
  ])("require the token: %s", async (authorization, status) => {
    const response = await fetch(`${service.url}/metrics`, {
      headers: authorization ? { authorization } : {},
    });
    expect(response.status).toBe(status);
    if (status === 401) expect(await response.json()).toMatchObject({ code: "metrics_token_invalid" });
  });

  test("count requests by route pattern, also those without a route", async () => {
    const secret = "Fwhere-is-it";
    await fetch(`${service.url}/${secret}/${secret}`);
    await fetch(`${service.url}/api/v1/videos/${secret}?${secret}`);
    const { samples, text } = await scrape(service);
    const requests = sumBy(samples, "subtext_http_request_seconds_count", "method", "route", "status");
    expect(requests["GET none 4xx"]).toBeGreaterThanOrEqual(1);
    expect(requests["GET /api/v1/videos/:videoId 4xx"]).toBe(1);
    expect(text).not.toContain(secret);
  });
});

test("the queue is reported by the number of waiting environments and the wait, without their names", async () => {
  const waiting = await startService({ env: { METRICS_TOKEN }, start: false });
  const [one, other] = [await createTenant(waiting), await createTenant(waiting)];
  for (const tenant of [one, one, one, other]) await upload(waiting, tenant, Buffer.from("waits"));
  const db = waiting.service.parts.database.kysely;
  const hourAgo = new Date(Date.now() - 3_700_000);
  await db
    .updateTable("transcription")
    .set({ queued_at: hourAgo, due_at: hourAgo })
    .where("environment_id", "=", other.environmentId)
    .execute();
  const { samples } = await scrape(waiting);
  expect(sumBy(samples, "subtext_queue_transcriptions", "status")).toEqual({ waiting: 4 });
  expect(sumBy(samples, "subtext_queue_environments", "waited_at_least")).toEqual({
    0: 2,
    60: 1,
    600: 1,
    3600: 1,
  });
  expect(sumBy(samples, "subtext_queue_environment_waiting_max")).toEqual({ "": 3 });
  const oldest = sumBy(samples, "subtext_queue_oldest_waiting_seconds")[""];
  expect(oldest).toBeGreaterThanOrEqual(3700);
  expect(oldest).toBeLessThan(3800);
});

test("an attempt whose worker was lost is counted by the worker that takes over", async () => {
  const dataFolder = await temporaryFolder();
  const dying = await startService({ dataFolder, start: false });
  const tenant = await createTenant(dying);
  const videoId = await upload(dying, tenant, Buffer.from("no video at all"));
  const db = dying.service.parts.database.kysely;
  const startedAt = new Date(Date.now() - 60_000);
  const { id } = await db
    .updateTable("transcription")
    .set({ status: "PROCESSING", attempt: 1, started_at: startedAt })
    .where("video_id", "=", videoId)
    .returning("id")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("transcription_attempt")
    .values({ transcription_id: id, number: 1, queued_at: startedAt, started_at: startedAt })
    .execute();
  await dying.service.stop();

  const taking = await startService({ dataFolder, env: { METRICS_TOKEN } });
  expect((await untilEnded(taking, tenant, videoId)).status).toBe("FAILED");
  const { samples } = await scrape(taking);
  expect(sumBy(samples, "subtext_transcription_attempts_total", "outcome", "reason")).toEqual({
    "lost ": 1,
    "failed unreadable_media": 1,
  });
  const queued = sumBy(samples, "subtext_transcription_stage_seconds_sum", "stage").queue ?? 0;
  expect(queued).toBe(0);
});

test("without a token in the settings there are no metrics", async () => {
  const { url } = await startService({ start: false });
  const response = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer " } });
  expect(response.status).toBe(404);
});
