import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Speech } from "@subtext/speech/processes/process-pool";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { type PipelineDeps, runTranscription } from "../../src/transcription/run.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { createUploadLocker } from "../../src/uploads/upload-locker.ts";
import { deleteVideo } from "../../src/videos/delete-video.ts";
import {
  createTenant,
  readTranscription,
  shareService,
  startService,
  until,
  upload,
} from "../support/service.ts";
import { recordingBytes } from "../support/stored-recording.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");

describe("a video that is deleted while it is transcribed", () => {
  const service = shareService({ start: false });

  async function setUp() {
    const { database, queue, log, recordings, transcripts } = service.service.parts;
    const db = database.kysely;
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("x"));
    const row = await db
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", videoId)
      .executeTakeFirstOrThrow();
    const running = new RunningAttempts(db);
    const locker = createUploadLocker({ timeoutMs: 1_000 });
    return { db, queue, log, tenant, videoId, row, recordings, transcripts, running, locker };
  }

  /** An attempt that runs until it is canceled. */
  async function beginAttempt(there: Awaited<ReturnType<typeof setUp>>) {
    const { db, queue, log, recordings, transcripts, row, running } = there;
    let ended = false;
    const { promise: begins, resolve: begun } = Promise.withResolvers<void>();
    /** A fake engine that runs until it is canceled. */
    const fakeSpeech = {
      transcribe: (_path: string, { signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => {
          begun();
          signal.addEventListener("abort", () => {
            ended = true;
            reject(signal.reason);
          });
        }),
    } as unknown as Speech;
    const deps: PipelineDeps = {
      db,
      queue,
      log,
      recordings,
      transcripts,
      clock: systemClock,
      speech: fakeSpeech,
      maxDurationSeconds: 60,
      maxConcurrentPerEnvironment: null,
      isModelExpected: () => false,
    };
    const job = { id: row.job_id, subjectId: row.id, signal: new AbortController().signal };
    const settled = running.run(job, (its) => runTranscription(deps, its, new AbortController().signal));
    await begins;
    return { ended: () => ended, settled };
  }

  test("has its attempt in this process ended before the deletion completes, and nothing is left", async () => {
    const there = await setUp();
    const { db, queue, log, tenant, videoId, row, recordings, transcripts, running, locker } = there;
    const attempt = await beginAttempt(there);
    await transcripts.put(`transcripts/${row.id}/1/transcript.vtt`, Buffer.from("half"));

    const environmentId = tenant.environmentId;
    const deleting = { db, queue, recordings, transcripts, locker, running, log };
    expect(await deleteVideo(deleting, { environmentId, videoId })).toBe(true);
    expect(attempt.ended()).toBe(true);
    await attempt.settled;
    expect(await recordingBytes(service.service, videoId)).toBe(0);
    expect(await Array.fromAsync(transcripts.list(`transcripts/${row.id}/`))).toEqual([]);
    expect(
      await db.selectFrom("event").selectAll().where("environment_id", "=", environmentId).execute(),
    ).toEqual([]);
    expect(await deleteVideo(deleting, { environmentId, videoId })).toBe(false);
  });

  test("has its attempt ended soon if another process deletes it", async () => {
    const there = await setUp();
    const { db, queue, log, tenant, videoId, recordings, transcripts, locker } = there;
    const attempt = await beginAttempt(there);
    const elsewhere = { db, queue, recordings, transcripts, locker, running: new RunningAttempts(db), log };
    await deleteVideo(elsewhere, { environmentId: tenant.environmentId, videoId });
    await attempt.settled;
    expect(attempt.ended()).toBe(true);
  });

  test("is accessible only in its environment", async () => {
    const { db, queue, log, videoId, recordings, transcripts, running, locker } = await setUp();
    const stranger = `env_${randomUUID().replaceAll("-", "")}`;
    const deleting = { db, queue, recordings, transcripts, locker, running, log };
    expect(await deleteVideo(deleting, { environmentId: stranger, videoId })).toBe(false);
    expect(await recordingBytes(service.service, videoId)).toBe(1);
  });

  test("is deleted even if its files cannot be removed now; the sweep removes them", async () => {
    const { db, queue, log, tenant, videoId, recordings, transcripts, running, locker } = await setUp();
    const broken = {
      ...recordings,
      remove: async () => {
        throw new Error("the disk does not answer");
      },
    };
    const deleting = { db, queue, recordings: broken, transcripts, locker, running, log };
    expect(await deleteVideo(deleting, { environmentId: tenant.environmentId, videoId })).toBe(true);
    expect((await readTranscription(service, tenant, videoId)).status).toBe(404);
  });
});

test("a real attempt leaves nothing of a video that is deleted while it runs", async () => {
  const service = await startService();
  const tenant = await createTenant(service);
  const videoId = await upload(service, tenant, await readFile(SAMPLE));
  await until(async () => (await readTranscription(service, tenant, videoId)).body.status === "PROCESSING");
  const response = await fetch(`${service.url}/api/v1/videos/${videoId}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  expect(response.status).toBe(204);
  expect((await readTranscription(service, tenant, videoId)).body).toMatchObject({ code: "video_not_found" });
  expect(await recordingBytes(service.service, videoId)).toBe(0);
  expect(await Array.fromAsync(service.service.parts.transcripts.list("transcripts/"))).toEqual([]);
  expect(service.logged()).toContain("discarding this attempt's work");
});
