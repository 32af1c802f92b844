import { randomBytes } from "node:crypto";
import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTenant, shareService, type Tenant, until } from "../../server/test/support/service.ts";
import { readRecording } from "../../server/test/support/stored-recording.ts";
import { startVerifyingReceiver } from "../../server/test/support/verifying-receiver.ts";
import { startCuttingProxy } from "../../test/support/cutting-proxy.ts";
import { Subtext, type SubtextOptions } from "../src/client.ts";
import { SubtextError } from "../src/errors.ts";
import { uploadTo } from "../src/upload.ts";

const ROOT = join(import.meta.dirname, "../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const media = (name: string) => openAsBlob(join(ROOT, "speech/test/fixtures/media", name));

const service = shareService({ env: { RATE_LIMIT_BURST: "10000" } });
const quick = { firstDelayMs: 20 };
const clientOf = ({ key }: Tenant, options: Partial<SubtextOptions> = {}) =>
  new Subtext({ baseUrl: service.url, apiKey: key, retry: quick, ...options });

const errorOf = async (promise: Promise<unknown>): Promise<SubtextError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof SubtextError)) throw new Error(`not a SubtextError: ${String(error)}`);
  return error;
};

describe("a video", () => {
  test("is uploaded, waited for and read, with its words, captions and text", async () => {
    const subtext = clientOf(await createTenant(service));
    const progress: number[] = [];
    const { videoId } = await subtext.videos.upload(await readFile(SAMPLE), {
      filename: "Board meeting.mp4",
      metadata: { customer: "42" },
      onProgress: ({ sentBytes, totalBytes }) => progress.push(sentBytes / totalBytes),
    });
    expect(progress.at(0)).toBe(0);
    expect(progress.at(-1)).toBe(1);
    const ended = await subtext.transcriptions.wait(videoId, { waitTimeoutMs: 50_000 });
    if (ended.status !== "COMPLETED") throw new Error(`it is ${ended.status}`);
    // The type guarantees that a COMPLETED transcription has files and a word count.
    const count: number = ended.wordCount;
    expect(ended.files.vtt.contentType).toBe("text/vtt");
    const words = await subtext.transcriptions.words(videoId);
    expect(words).toHaveLength(count);
    expect(await subtext.transcriptions.vtt(videoId)).toMatch(/^WEBVTT\n/);
    expect((await subtext.transcriptions.text(videoId)).split(/\s+/)[0]).toBe(words[0]?.word);
    expect(await subtext.videos.get(videoId)).toMatchObject({
      status: "uploaded",
      filename: "Board meeting.mp4",
      metadata: { customer: "42" },
      transcription: { status: "COMPLETED" },
    });
    await subtext.videos.delete(videoId);
    expect(await errorOf(subtext.videos.get(videoId))).toMatchObject({
      code: "video_not_found",
      status: 404,
    });
  });

  test("without sound is SKIPPED and has no files", async () => {
    const subtext = clientOf(await createTenant(service));
    const { videoId } = await subtext.videos.upload(await media("video-only.mp4"));
    const ended = await subtext.transcriptions.wait(videoId);
    expect(ended).toMatchObject({ status: "SKIPPED", files: null });
    expect(await errorOf(subtext.transcriptions.text(videoId))).toMatchObject({
      code: "transcription_not_completed",
      detail: "The transcription is SKIPPED.",
    });
  });

  test("can be awaited before its upload", async () => {
    const subtext = clientOf(await createTenant(service));
    const file = await media("video-only.mp4");
    const { video, upload } = await subtext.videos.create({ sizeBytes: file.size });
    const ended = subtext.transcriptions.wait(video.id);
    expect(await errorOf(subtext.transcriptions.get(video.id))).toMatchObject({
      code: "upload_incomplete",
      status: 404,
      retryable: true,
    });
    await uploadTo(upload.url, file);
    expect(await ended).toMatchObject({ status: "SKIPPED", failure: null, skipReason: "no_audio_track" });
  });

  test("that was uploaded while AI Transcription was off ends the wait with an error", async () => {
    const subtext = clientOf(await createTenant(service, { aiTranscription: false }));
    const { videoId } = await subtext.videos.upload(new Blob(["x"]));
    expect(await errorOf(subtext.transcriptions.wait(videoId))).toMatchObject({
      code: "transcription_not_found",
      retryable: false,
    });
  });

  test("that is not a media file is FAILED with a reason", async () => {
    const subtext = clientOf(await createTenant(service));
    const { videoId } = await subtext.videos.upload(new Blob(["no media"]));
    const failure = { code: "unreadable_media", message: expect.any(String) };
    const reasons = { failure, skipReason: null, incomplete: false };
    const ended = await subtext.transcriptions.wait(videoId);
    expect(ended).toMatchObject({ status: "FAILED", ...reasons });
    const { transcription } = await subtext.videos.get(videoId);
    expect(transcription).toMatchObject({ status: "FAILED", ...reasons });
    const { failure: _failure, skipReason: _reason, incomplete: _incomplete, ...tenFields } = ended;
    expect(await subtext.transcriptions.get(videoId)).toEqual(tenFields);
    expect((await subtext.videos.list().page()).data[0]?.transcription).toEqual(transcription);
  });

  test("that is truncated has a transcript that is marked as incomplete", async () => {
    const subtext = clientOf(await createTenant(service));
    const file = await media("webm-opus-beeps.webm");
    const { videoId } = await subtext.videos.upload(file.slice(0, Math.round(file.size * 0.6)));
    expect(await subtext.transcriptions.wait(videoId)).toMatchObject({
      status: "COMPLETED",
      incomplete: true,
    });
  });

  test("fetches its files with a new URL if the first one is rejected", async () => {
    const refused: string[] = [];
    const subtext = clientOf(await createTenant(service), {
      fetch: async (url, init) => {
        if (!url.includes("/files/") || refused.length > 0) return await fetch(url, init);
        refused.push(url);
        return await fetch(url.replace(/signature=./, "signature=!"), init);
      },
    });
    const { videoId } = await subtext.videos.upload(await media("mp4-aac-beeps.mp4"));
    expect(await subtext.transcriptions.wait(videoId)).toMatchObject({ status: "COMPLETED" });
    expect(await subtext.transcriptions.words(videoId)).toEqual([]);
    expect(refused).toHaveLength(1);
  });

  test("that does not finish within the timeout ends the wait, not the transcription", async () => {
    const subtext = clientOf(await createTenant(service));
    const { videoId } = await subtext.videos.upload(await media("video-only.mp4"));
    const error = await errorOf(subtext.transcriptions.wait(videoId, { waitTimeoutMs: 1 }));
    expect(error.code).toBe("wait_timed_out");
    const signal = AbortSignal.abort(new Error("the user left"));
    await expect(subtext.transcriptions.wait(videoId, { signal })).rejects.toThrow("the user left");
  });

  test("is listed with other videos, page by page", async () => {
    const subtext = clientOf(await createTenant(service));
    const made: string[] = [];
    for (let count = 0; count < 5; count++) {
      const { video } = await subtext.videos.create({ sizeBytes: 7, metadata: { number: String(count) } });
      made.unshift(video.id);
    }
    const seen: string[] = [];
    for await (const { id } of subtext.videos.list({ limit: 2 })) seen.push(id);
    expect(seen).toEqual(made);
    expect(await subtext.videos.list({ transcriptionStatus: "FAILED" }).page()).toEqual({
      data: [],
      nextCursor: null,
    });
  });

  test("is created once by two calls with one idempotency key", async () => {
    const subtext = clientOf(await createTenant(service));
    const first = await subtext.videos.create({ sizeBytes: 7 }, { idempotencyKey: "import-42" });
    expect(await subtext.videos.create({ sizeBytes: 7 }, { idempotencyKey: "import-42" })).toEqual(first);
    const other = subtext.videos.create({ sizeBytes: 8 }, { idempotencyKey: "import-42" });
    expect((await errorOf(other)).code).toBe("idempotency_key_reused");
  });

  test("is rejected for a key without permission, with its code", async () => {
    const subtext = clientOf(await createTenant(service, { permissions: ["get_video"] }));
    const error = await errorOf(subtext.videos.upload(new Blob(["x"])));
    expect(error).toMatchObject({ code: "insufficient_permission", status: 403, retryable: false });
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("an upload", () => {
  const bytes = randomBytes(12_000_000);
  const arrived = (videoId: string) => readRecording(service.service, videoId);

  test("completes although the network breaks ten connections", async () => {
    const cuts = [3_000, 700_000, 1_500_000, 200_000, 900_000, 1_000, 2_000_000, 600_000, 40_000, 1_100_000];
    const proxy = await startCuttingProxy(Number(new URL(service.url).port), cuts);
    const subtext = clientOf(await createTenant(service), {
      fetch: (url, init) => fetch(url.replace(service.url, proxy.url), init),
    });
    const progress: number[] = [];
    const { videoId } = await subtext.videos.upload(new Blob([bytes]), {
      onProgress: ({ sentBytes }) => progress.push(sentBytes),
    });
    expect(proxy.cutsLeft()).toBe(0);
    expect((await arrived(videoId))?.equals(bytes)).toBe(true);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  test("that was aborted resumes with only its URL", async () => {
    const subtext = clientOf(await createTenant(service));
    const file = new Blob([bytes]);
    const controller = new AbortController();
    let url = "";
    const upload = subtext.videos.upload(file, {
      signal: controller.signal,
      maxChunkBytes: 1_000_000,
      onCreated: (created) => {
        url = created.upload.url;
      },
      onProgress: ({ sentBytes }) =>
        sentBytes >= 3_000_000 && controller.abort(new Error("the page was left")),
    });
    await expect(upload).rejects.toThrow("the page was left");
    const progress: number[] = [];
    await uploadTo(url, file, { onProgress: ({ sentBytes }) => progress.push(sentBytes) });
    expect(progress[0]).toBeGreaterThanOrEqual(3_000_000);
    const [video] = (await subtext.videos.list().page()).data;
    expect((await arrived(video?.id ?? ""))?.equals(bytes)).toBe(true);
    // Upload again, although the service already has all bytes.
    await uploadTo(url, file);
  });

  test("does not resume with another file, an altered URL, or after its deletion", async () => {
    const subtext = clientOf(await createTenant(service));
    const { upload, video } = await subtext.videos.create({ sizeBytes: 9 });
    expect((await errorOf(uploadTo(upload.url, new Blob(["x"])))).code).toBe("upload_file_differs");
    const altered = `${upload.url.slice(0, -1)}!`;
    expect(await errorOf(uploadTo(altered, new Blob(["123456789"])))).toMatchObject({ status: 403 });
    await subtext.videos.delete(video.id);
    expect((await errorOf(uploadTo(upload.url, new Blob(["123456789"])))).code).toBe("upload_not_found");
  });
});

describe("webhook endpoints", () => {
  test("are created, changed, tested, rotated, listed and deleted", async () => {
    const subtext = clientOf(await createTenant(service));
    const { webhookEndpoints } = subtext;
    const receiver = await startVerifyingReceiver();
    const { secret, ...endpoint } = await webhookEndpoints.create({
      url: receiver.url,
      metadata: { team: 7 },
    });
    receiver.trust(secret);
    receiver.answers.push(410);
    const test = await webhookEndpoints.sendTestEvent(endpoint.id);
    const disabled = await until(async () => {
      const now = await webhookEndpoints.get(endpoint.id);
      return !now.enabled && now;
    });
    expect(disabled.disabledReason).toContain("410");
    expect((await errorOf(webhookEndpoints.redeliver(endpoint.id, test.id))).code).toBe(
      "webhook_endpoint_disabled",
    );
    expect(await webhookEndpoints.update(endpoint.id, { enabled: true })).toMatchObject({ enabled: true });
    expect(await webhookEndpoints.redeliverFailed(endpoint.id, { since: endpoint.createdAt })).toMatchObject({
      hasMore: false,
    });
    await webhookEndpoints.redeliver(endpoint.id, test.id);
    await until(async () => {
      const [delivery] = (await webhookEndpoints.listDeliveries(endpoint.id).page()).data;
      return delivery?.status === "succeeded";
    });
    expect(receiver.received.at(-1)?.payload).toMatchObject({
      type: "webhooks.endpoint.test",
      metadata: { team: 7 },
    });
    const rotated = await webhookEndpoints.rotateSecret(endpoint.id);
    expect(rotated.secret).not.toBe(secret);
    const listed: string[] = [];
    for await (const { id } of webhookEndpoints.list()) listed.push(id);
    expect(listed).toEqual([endpoint.id]);
    await webhookEndpoints.delete(endpoint.id);
    expect((await errorOf(webhookEndpoints.get(endpoint.id))).code).toBe("webhook_endpoint_not_found");
  });
});
