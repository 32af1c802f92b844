import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { VideoPageView } from "../../src/admin/contract/video.ts";
import type {
  TranscriptWordsView,
  VideoDetailView,
  WaveformView,
} from "../../src/admin/contract/video-detail.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import {
  createTenant,
  readTranscription,
  shareService,
  type Tenant,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { writeRecording } from "../support/stored-recording.ts";
import { testS3 } from "../support/test-bucket.ts";
import {
  addOperator,
  addViewer,
  codeOf,
  cookieOf,
  send,
  sendAsCommandLine,
  setUp,
  signIn,
} from "./operator-requests.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const media = (name: string) => readFile(join(ROOT, "speech/test/fixtures/media", name));

const subtext = shareService();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await createTenant(subtext);
});

const pathOf = (videoId: string, { environmentId } = tenant) =>
  `/environments/${environmentId}/videos/${videoId}`;

async function detail(videoId: string, of = tenant): Promise<VideoDetailView> {
  const response = await sendAsCommandLine(subtext, pathOf(videoId, of));
  expect(response.statusCode).toBe(200);
  return response.json<VideoDetailView>();
}

async function uploaded(file: Buffer, filename: string, to = tenant): Promise<string> {
  return await upload(subtext, to, file, { metadata: { filename } });
}

async function ended(file: Buffer, filename: string): Promise<string> {
  const videoId = await uploaded(file, filename);
  await untilEnded(subtext, tenant, videoId);
  return videoId;
}

test("a video whose default audio track is silent is transcribed from the first audible track, and says so", async () => {
  const videoId = await ended(await media("third-track-beeps.mp4"), "tracks.mp4");
  expect((await detail(videoId)).transcription).toMatchObject({ status: "COMPLETED", audioTrack: 3 });
  const ordinary = await ended(await media("mp4-aac-beeps.mp4"), "one-track.mp4");
  expect((await detail(ordinary)).transcription).toMatchObject({ status: "COMPLETED", audioTrack: null });
});

describe("the page of a completed video", () => {
  let videoId: string;
  let deliveredTo: string;

  beforeAll(async () => {
    const { database, endpointPolicy } = subtext.service.parts;
    const deps = { db: database.kysely, clock: systemClock, policy: endpointPolicy };
    const receiver = createServer((_request, response) => response.writeHead(204).end());
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    deliveredTo = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const { environmentId } = tenant;
    await createWebhookEndpoint(deps, { environmentId, url: deliveredTo, metadata: {} });
    videoId = await ended(await readFile(SAMPLE), "Board meeting.html");
    await until(async () => (await detail(videoId)).transcription?.events[0]?.deliveries[0]?.finishedAt);
    return () => receiver.close();
  });

  test("has all details and URLs that work", async () => {
    const view = await detail(videoId);
    expect(view).toMatchObject({
      id: videoId,
      state: "completed",
      filename: "Board meeting.html",
      metadata: { filename: "Board meeting.html" },
      media: { contentType: "video/mp4" },
      transcription: {
        language: "en",
        duration: 43.348,
        incomplete: false,
        retryAt: null,
        events: [{ deliveries: [{ endpointUrl: deliveredTo, status: "succeeded", attempts: 1 }] }],
      },
    });
    const { transcription } = view;
    expect(transcription?.engine).toMatch(/./);
    expect(transcription?.decoder).toMatch(/ffmpeg|node-av/);
    expect(transcription?.languageSegments?.[0]).toMatchObject({ language: "en" });
    const { data } = (
      await sendAsCommandLine(subtext, `/environments/${tenant.environmentId}/videos`)
    ).json<VideoPageView>();
    expect(data.find(({ id }) => id === videoId)).toMatchObject({ state: "completed" });
  });

  test("shows when each step was done and how long it took, and the only attempt", async () => {
    const { transcription } = await detail(videoId);
    const { timeline, attempts, createdAt, finishedAt } = transcription!;
    expect(timeline.map(({ step }) => step)).toEqual([
      "uploaded",
      "queued",
      "started",
      "prepared",
      "decoded",
      "transcribed",
      "stored",
      "completed",
      "delivered",
    ]);
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
    expect(timeline[0]).toEqual({ step: "uploaded", at: createdAt, seconds: null });
    expect(timeline.at(-1)).toMatchObject({ endpointUrl: deliveredTo });
    const seconds = timeline.slice(0, -1).reduce((sum, step) => sum + (step.seconds ?? 0), 0);
    expect(seconds).toBeCloseTo((Date.parse(finishedAt!) - Date.parse(createdAt)) / 1000, 2);
    expect(attempts).toMatchObject([
      { number: 1, begunBy: "upload", outcome: "completed", failure: null, endedAt: finishedAt },
    ]);
  });

  test("gets the words as columns, compressed, and cacheable", async () => {
    const path = `${pathOf(videoId)}/transcript`;
    const plain = await sendAsCommandLine(subtext, path);
    const view = plain.json<TranscriptWordsView>();
    const { transcription } = await detail(videoId);
    expect(view.words).toHaveLength(transcription!.wordCount!);
    expect(view.confidences).toHaveLength(transcription!.wordCount!);
    expect(view.words.join("").split(/\s+/).length).toBeGreaterThan(50);
    const words = (await sendAsCommandLine(subtext, `${pathOf(videoId)}/files/json`)).json<
      { start: number }[]
    >();
    expect(view.pauses[0]).toBe(Math.round(words[0]!.start * 1000));

    const zipped = await sendAsCommandLine(subtext, path, { headers: { "accept-encoding": "br, gzip" } });
    expect(zipped.headers).toMatchObject({
      "content-encoding": "gzip",
      "cache-control": "private, no-cache",
      vary: "Accept-Encoding",
    });
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
    const etag = String(plain.headers.etag);
    const again = await sendAsCommandLine(subtext, path, { headers: { "if-none-match": etag } });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
    expect(
      (await sendAsCommandLine(subtext, path, { headers: { "if-none-match": '"other"' } })).statusCode,
    ).toBe(200);
  });

  test("gets the waveform in tenths of a second, with speech where the words are", async () => {
    const response = await sendAsCommandLine(subtext, `${pathOf(videoId)}/waveform`);
    const view = response.json<WaveformView>();
    expect(response.headers.etag).toMatch(/^W\/"/);
    expect(view).toMatchObject({ duration: 43.348, peaksPerSecond: 10 });
    const peaks = Buffer.from(view.peaks, "base64");
    expect(peaks).toHaveLength(434);
    expect(Math.max(...peaks)).toBeGreaterThan(100);
    const { pauses, durations } = (
      await sendAsCommandLine(subtext, `${pathOf(videoId)}/transcript`)
    ).json<TranscriptWordsView>();
    let clock = 0;
    let spoken = 0;
    for (const [index, pause] of pauses.entries()) {
      const middle = (clock + pause + durations[index]! / 2) / 1000;
      clock += pause + durations[index]!;
      if (view.speech.some(([start, end]) => start <= middle && middle <= end)) spoken++;
    }
    expect(spoken / pauses.length).toBeGreaterThan(0.95);
  });

  test("plays the recording, whole or in parts, with its detected type and not the type of its name", async () => {
    const file = await readFile(SAMPLE);
    const { media } = await detail(videoId);
    const path = media!.url.replace(/^\/internal/, "");
    if (testS3()) {
      const player = await sendAsCommandLine(subtext, path);
      const range = { range: "bytes=1000-1999" };
      const part = await fetch(String(player.headers.location), { headers: range });
      expect([player.statusCode, part.status]).toEqual([302, 206]);
      expect(part.headers.get("content-type")).toBe("video/mp4");
      expect(part.headers.get("content-disposition")).toMatch(/^inline; filename="Board meeting.html"/);
      expect(Buffer.from(await part.arrayBuffer()).equals(file.subarray(1000, 2000))).toBe(true);
      return;
    }
    const whole = await sendAsCommandLine(subtext, path);
    expect(whole.statusCode).toBe(200);
    expect(whole.rawPayload.equals(file)).toBe(true);
    expect(whole.headers).toMatchObject({
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
    });
    expect(whole.headers["content-disposition"]).toMatch(/^inline; filename="Board meeting.html"/);
    expect(whole.headers["content-security-policy"]).toMatch(/\bsandbox\b/);

    const part = await sendAsCommandLine(subtext, path, { headers: { range: "bytes=1000-1999" } });
    expect([part.statusCode, part.headers["content-range"]]).toEqual([206, `bytes 1000-1999/${file.length}`]);
    expect(part.rawPayload.equals(file.subarray(1000, 2000))).toBe(true);
    const past = await sendAsCommandLine(subtext, path, { headers: { range: `bytes=${file.length}-` } });
    expect(codeOf(past)).toEqual([416, "range_not_satisfiable"]);
    const etag = String(whole.headers.etag);
    const same = await sendAsCommandLine(subtext, path, { headers: { "if-none-match": etag } });
    expect(same.statusCode).toBe(304);
    const head = await sendAsCommandLine(subtext, path, { method: "HEAD" });
    expect([head.statusCode, head.body, head.headers["content-length"]]).toEqual([
      200,
      "",
      String(file.length),
    ]);
  });

  test("offers its files and its recording as downloads, wherever they are stored", async () => {
    for (const [format, start] of [
      ["vtt", /^WEBVTT/],
      ["json", /^\[/],
      ["txt", /^Welcome/],
    ] as const) {
      const file = await sendAsCommandLine(subtext, `${pathOf(videoId)}/files/${format}`);
      expect(file.statusCode).toBe(200);
      expect(file.body).toMatch(start);
      expect(file.headers["content-disposition"]).toMatch(
        new RegExp(`^attachment; filename="Board meeting\\.en\\.${format}"`),
      );
    }
    const unknown = await sendAsCommandLine(subtext, `${pathOf(videoId)}/files/srt`);
    expect(codeOf(unknown)).toEqual([404, "transcript_not_found"]);

    const recording = await sendAsCommandLine(subtext, `${pathOf(videoId)}/media?download`);
    const { headers } = testS3()
      ? await fetch(String(recording.headers.location))
      : { headers: new Headers(recording.headers as Record<string, string>) };
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="Board meeting.html"/);
    expect(headers.get("content-type")).toBe("application/octet-stream");
  });

  test("is available only to operators and only in its own environment", async () => {
    const other = await createTenant(subtext);
    for (const part of ["", "/transcript", "/waveform", "/media", "/files/vtt"]) {
      expect(codeOf(await send(subtext, `${pathOf(videoId)}${part}`))).toEqual([401, "sign_in_required"]);
      const key = { authorization: `Bearer ${tenant.key}` };
      expect((await send(subtext, `${pathOf(videoId)}${part}`, { headers: key })).statusCode).toBe(401);
      const elsewhere = await sendAsCommandLine(subtext, `${pathOf(videoId, other)}${part}`);
      expect(codeOf(elsewhere)).toEqual([404, "video_not_found"]);
      const unknown = await sendAsCommandLine(subtext, `${pathOf("video_x")}${part}`);
      expect(codeOf(unknown)).toEqual([404, "video_not_found"]);
    }
    const elsewhere = pathOf(videoId, other);
    for (const [path, method] of [
      [elsewhere, "DELETE"],
      [`${elsewhere}/reprocess`, "POST"],
    ] as const) {
      expect(codeOf(await sendAsCommandLine(subtext, path, { method }))).toEqual([404, "video_not_found"]);
    }
    expect((await detail(videoId)).state).toBe("completed");
  });

  test("lets a viewer see and play it, but not change it", async () => {
    await setUp(subtext);
    const cookie = cookieOf(await signIn(subtext, await addViewer(subtext)));
    const headers = { cookie, origin: subtext.url };
    for (const part of ["", "/transcript", "/waveform", "/media", "/files/vtt"]) {
      const status = testS3() && part === "/media" ? 302 : 200;
      expect((await send(subtext, `${pathOf(videoId)}${part}`, { headers })).statusCode).toBe(status);
    }
    const remove = await send(subtext, pathOf(videoId), { method: "DELETE", headers });
    expect(codeOf(remove)).toEqual([403, "role_required"]);
    const again = await send(subtext, `${pathOf(videoId)}/reprocess`, { method: "POST", headers });
    expect(codeOf(again)).toEqual([403, "role_required"]);
  });

  test("shows an editor no webhooks, whose URLs may be secrets", async () => {
    const email = "editor@subtext.example";
    const environments = [{ environment: tenant.environmentId, role: "editor" as const }];
    const editor = await addOperator(subtext, { email, environments });
    const headers = { cookie: cookieOf(await signIn(subtext, editor)), origin: subtext.url };
    for (const path of [pathOf(videoId), `/transcriptions/${videoId}`]) {
      const asEditor = await send(subtext, path, { headers });
      const asOwner = await sendAsCommandLine(subtext, path);
      expect(asOwner.payload).toContain("endpoint_");
      expect(asEditor.statusCode).toBe(200);
      expect(asEditor.payload).not.toContain("endpoint_");
      expect(asEditor.payload).not.toContain(deliveredTo);
    }
    const again = await send(subtext, `${pathOf(videoId)}/reprocess`, { method: "POST", headers });
    expect(codeOf(again)).toEqual([409, "transcription_not_failed"]);
  });

  test("cannot be reprocessed, and can be deleted with everything that belongs to it", async () => {
    const path = pathOf(videoId);
    const reprocessed = await sendAsCommandLine(subtext, `${path}/reprocess`, { method: "POST" });
    expect(codeOf(reprocessed)).toEqual([409, "transcription_not_failed"]);
    const { files } = (await readTranscription(subtext, tenant, videoId)).body;
    expect((await sendAsCommandLine(subtext, path, { method: "DELETE" })).statusCode).toBe(204);
    for (const part of ["", "/transcript", "/waveform", "/media", "/files/vtt"]) {
      expect(codeOf(await sendAsCommandLine(subtext, path + part))).toEqual([404, "video_not_found"]);
    }
    expect((await fetch(files!.vtt.url)).status).toBe(404);
    expect((await readTranscription(subtext, tenant, videoId)).status).toBe(404);
  });
});

describe("the page of a video without a transcript", () => {
  test("shows the waveform of a silent recording, and none without an audio track", async () => {
    const silent = await ended(await media("silence-aac.mp4"), "silent.mp4");
    expect(await detail(silent)).toMatchObject({
      state: "skipped",
      transcription: {
        skipReason: "silent_audio_track",
        hasWaveform: true,
        attempts: [{ outcome: "skipped" }],
      },
    });
    const { peaks, speech } = (
      await sendAsCommandLine(subtext, `${pathOf(silent)}/waveform`)
    ).json<WaveformView>();
    expect(new Set(Buffer.from(peaks, "base64"))).toEqual(new Set([0]));
    expect(speech).toEqual([]);
    const words = await sendAsCommandLine(subtext, `${pathOf(silent)}/transcript`);
    expect(codeOf(words)).toEqual([404, "transcript_not_found"]);

    const mute = await ended(await media("video-only.mp4"), "mute.mp4");
    const { timeline, hasWaveform } = (await detail(mute)).transcription!;
    expect(hasWaveform).toBe(false);
    expect(timeline.map(({ step }) => step)).toEqual(["uploaded", "queued", "started", "skipped"]);
    const none = await sendAsCommandLine(subtext, `${pathOf(mute)}/waveform`);
    expect(codeOf(none)).toEqual([404, "waveform_not_found"]);
  });

  test("never serves a type that a browser would execute, whatever the file is called", async () => {
    const html = Buffer.from("<!doctype html><script>alert(1)</script>");
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    for (const file of [html, svg]) {
      const videoId = await ended(file, "holiday.mp4");
      const view = await detail(videoId);
      expect(view).toMatchObject({ state: "failed", media: { contentType: null } });
      const played = await sendAsCommandLine(subtext, `${pathOf(videoId)}/media`);
      if (testS3()) {
        // A page on the bucket's origin, which holds nothing of the service.
        const given = await fetch(String(played.headers.location));
        expect(given.headers.get("content-type")).toBe("application/octet-stream");
        expect(given.headers.get("content-disposition")).toMatch(/^attachment;/);
        continue;
      }
      const { headers } = played;
      expect(headers).toMatchObject({
        "content-type": "application/octet-stream",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
      });
      expect(headers["content-disposition"]).toMatch(/^attachment;/);
    }
  });

  test("keeps the failure of every attempt across a reprocess, which completes once the cause is fixed", async () => {
    const videoId = await ended(Buffer.from("broken"), "broken.mp4");
    const failed = await detail(videoId);
    expect(failed.transcription).toMatchObject({
      status: "FAILED",
      failure: { code: "unreadable_media" },
      attempts: [{ number: 1, outcome: "failed", failure: { code: "unreadable_media" } }],
    });
    await writeRecording(subtext.service, videoId, await media("mp4-aac-beeps.mp4"));
    const answer = await sendAsCommandLine(subtext, `${pathOf(videoId)}/reprocess`, { method: "POST" });
    expect(answer.statusCode).toBe(202);
    expect(answer.json<VideoDetailView>()).toMatchObject({
      transcription: { id: failed.transcription!.id, createdAt: failed.transcription!.createdAt },
    });
    await untilEnded(subtext, tenant, videoId);
    const { transcription } = await detail(videoId);
    expect(transcription).toMatchObject({
      status: "COMPLETED",
      failure: null,
      attempts: [
        { number: 1, begunBy: "upload", outcome: "failed", failure: { code: "unreadable_media" } },
        { number: 2, begunBy: "reprocess", outcome: "completed", failure: null },
      ],
    });
    const [uploadedStep, queued] = transcription!.timeline;
    expect(Date.parse(queued!.at)).toBeGreaterThan(Date.parse(uploadedStep!.at));
    expect(transcription!.attempts[1]!.queuedAt).toBe(queued!.at);
    expect((await sendAsCommandLine(subtext, `${pathOf(videoId)}/waveform`)).statusCode).toBe(200);
  });

  test("plays a video that is never transcribed, but not one that is still uploading", async () => {
    const off = await createTenant(subtext, { aiTranscription: false });
    const videoId = await uploaded(await media("webm-opus-beeps.webm"), "a.mp4", off);
    expect(await detail(videoId, off)).toMatchObject({
      state: "untranscribed",
      transcription: null,
      media: { contentType: "video/webm" },
    });
    // A bucket plays it itself, but only answers GET.
    const played = await sendAsCommandLine(subtext, `${pathOf(videoId, off)}/media`, { method: "HEAD" });
    expect([played.statusCode, played.headers["content-type"]]).toEqual([200, "video/webm"]);
    const again = await sendAsCommandLine(subtext, `${pathOf(videoId, off)}/reprocess`, { method: "POST" });
    expect(codeOf(again)).toEqual([404, "transcription_not_found"]);

    const offer = await sendAsCommandLine(subtext, `/environments/${off.environmentId}/videos`, {
      method: "POST",
      body: { filename: "b.mp4", sizeBytes: 100 },
    });
    const { id } = offer.json<{ video: { id: string } }>().video;
    expect(await detail(id, off)).toMatchObject({ state: "uploading", media: null, transcription: null });
    const early = await sendAsCommandLine(subtext, `${pathOf(id, off)}/media`);
    expect(codeOf(early)).toEqual([404, "storage_object_missing"]);
    expect((await sendAsCommandLine(subtext, pathOf(id, off), { method: "DELETE" })).statusCode).toBe(204);
  });
});
