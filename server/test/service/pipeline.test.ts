import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Word } from "@subtext/captions/words";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { freePort } from "../support/free-port.ts";
import {
  createTenant,
  readTranscription,
  shareService,
  startService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { writeRecording } from "../support/stored-recording.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const media = (name: string) => readFile(join(ROOT, "speech/test/fixtures/media", name));

const service = shareService();
const db = () => service.service.parts.database.kysely;

describe("a video that finished uploading", () => {
  test("gets its transcript, files and one verified webhook automatically", async () => {
    const tenant = await createTenant(service);
    const receiver = await startVerifyingReceiver();
    const { secret } = await createWebhookEndpoint(
      { db: db(), clock: systemClock, policy: service.service.parts.endpointPolicy },
      { environmentId: tenant.environmentId, url: receiver.url, metadata: { customer: 42 } },
    );
    receiver.trust(secret);
    const videoId = await upload(service, tenant, await readFile(SAMPLE), {
      metadata: { filename: "Board meeting.mp4", room: "7" },
    });
    const transcription = await untilEnded(service, tenant, videoId);
    expect(transcription).toMatchObject({ status: "COMPLETED", language: "en", duration: 43.348 });

    const [vtt, json, txt] = await Promise.all(
      (["vtt", "json", "txt"] as const).map((format) => fetch(transcription.files?.[format].url ?? "")),
    );
    expect(vtt?.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
    expect(vtt?.headers.get("content-disposition")).toContain("Board meeting.en.vtt");
    expect(await vtt?.text()).toMatch(/^WEBVTT\n\n\d\d:\d\d:\d\d\.\d{3} --> /);
    const words = (await json?.json()) as Word[];
    expect(words).toHaveLength(transcription.wordCount ?? -1);
    expect(Object.keys(words[0] ?? {})).toEqual(["word", "start", "end"]);
    for (const [index, { start, end }] of words.entries()) {
      expect(start).toBeGreaterThanOrEqual(words[index - 1]?.end ?? 0);
      expect(end).toBeGreaterThanOrEqual(start);
    }
    expect(words.at(-1)?.end).toBeLessThanOrEqual(43.348);
    const spoken = plainWords(await readFile(join(ROOT, "demo/sample/sample.txt"), "utf8"));
    const recognized = plainWords((await txt?.text()) ?? "");
    // Quantized models differ slightly between processors.
    expect(spoken.filter((word, index) => recognized[index] !== word).length).toBeLessThanOrEqual(1);

    const { payload } = await until(async () => receiver.received[0]);
    expect(payload).toMatchObject({
      type: "transcriptions.transcription.completed",
      data: {
        id: transcription.id,
        videoId,
        environmentId: tenant.environmentId,
        status: "COMPLETED",
        wordCount: transcription.wordCount,
        videoMetadata: { filename: "Board meeting.mp4", room: "7" },
      },
      metadata: { customer: 42 },
    });
    expect((await fetch(payload.data.files?.txt.url ?? "")).status).toBe(200);
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ["video-only.mp4", "no_audio_track"],
    ["no-samples.webm", "empty_audio_track"],
    ["silence-aac.mp4", "silent_audio_track"],
  ])("with nothing to transcribe is SKIPPED: %s", async (name, reason) => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, await media(name));
    expect(await untilEnded(service, tenant, videoId)).toMatchObject({ status: "SKIPPED", files: null });
    const row = await db()
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", videoId)
      .executeTakeFirstOrThrow();
    expect(row.skip_reason).toBe(reason);
  });

  test("without speech is COMPLETED with three empty, valid files", async () => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, await media("mp4-aac-beeps.mp4"));
    const transcription = await untilEnded(service, tenant, videoId);
    expect(transcription).toMatchObject({ status: "COMPLETED", language: "zxx", wordCount: 0 });
    const contents = await Promise.all(
      (["vtt", "json", "txt"] as const).map(async (format) =>
        (await fetch(transcription.files?.[format].url ?? "")).text(),
      ),
    );
    expect(contents.map((content) => content.trim())).toEqual(["WEBVTT", "[]", ""]);
  });

  test.each([
    ["empty", Buffer.alloc(0), "unreadable_media"],
    ["text", Buffer.from("<!doctype html><p>not a video"), "unreadable_media"],
    ["playlist", Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), "unsupported_media"],
  ])("that is not media (%s) is FAILED with its reason", async (_what, file, code) => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, file);
    expect(await untilEnded(service, tenant, videoId)).toMatchObject({
      status: "FAILED",
      files: null,
      completedAt: null,
    });
    const row = await db()
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", videoId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ failure_code: code, attempt: 1 });
  });

  test("that FAILED can be reprocessed once its cause is fixed, with the same id and creation time", async () => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("broken"));
    const failed = await untilEnded(service, tenant, videoId);
    expect(failed.status).toBe("FAILED");

    await writeRecording(service.service, videoId, await readFile(SAMPLE));
    const { queue, clock } = service.service.parts;
    await reprocess({ db: db(), queue, clock }, failed.id);
    const completed = await untilEnded(service, tenant, videoId);
    expect(completed).toMatchObject({ status: "COMPLETED", id: failed.id, createdAt: failed.createdAt });
    await expect(reprocess({ db: db(), queue, clock }, failed.id)).rejects.toMatchObject({
      code: "transcription_not_failed",
    });
    expect((await readTranscription(service, tenant, videoId)).body.status).toBe("COMPLETED");
  });
});

describe("a service that is stopped while it works", () => {
  test("hands the video back without a failed attempt, and the next start completes it", async () => {
    const dataFolder = await temporaryFolder();
    const port = await freePort();
    const before = await startService({ dataFolder, port });
    const tenant = await createTenant(before);
    const videoId = await upload(before, tenant, await readFile(SAMPLE));
    await until(async () => (await readTranscription(before, tenant, videoId)).body.status === "PROCESSING");
    await before.service.stop();

    const after = await startService({ dataFolder, port });
    const row = await after.service.parts.database.kysely
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", videoId)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ failure_count: 0, crash_count: 0 });
    expect(await untilEnded(after, tenant, videoId)).toMatchObject({ status: "COMPLETED" });
  });

  test("responds to health checks until then", async () => {
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${service.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  });
});

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
