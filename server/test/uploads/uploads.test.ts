import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import * as tus from "tus-js-client";
import { describe, expect, test } from "vitest";
import { sweep } from "../../src/cleanup/sweep.ts";
import { deleteExpiredUpload, findUpload, recordActivity } from "../../src/uploads/queries.ts";
import { listOpenUploads } from "../../src/videos/queries.ts";
import { freePort } from "../support/free-port.ts";
import {
  createTenant,
  MovableClock,
  shareService,
  startService,
  type TestService,
  temporaryFolder,
  until,
  upload,
} from "../support/service.ts";
import { readRecording, recordingBytes, writeRecording } from "../support/stored-recording.ts";
import { createUpload, patchUpload } from "../support/tus-requests.ts";

const HOUR_MS = 3_600_000;

function rowsOf({ service }: TestService) {
  const db = service.parts.database.kysely;
  return {
    video: (id: string) => db.selectFrom("video").selectAll().where("id", "=", id).executeTakeFirst(),
    transcriptions: (videoId: string) =>
      db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).execute(),
  };
}

const clock = new MovableClock();
/** Accepts uploads, but has no workers. */
const service = shareService({ start: false, clock, env: { MAX_UPLOAD_BYTES: "1000000" } });

/** An upload of 4 bytes to a separate service. */
async function openUpload() {
  const clock = new MovableClock();
  const service = await startService({ start: false, clock });
  const tenant = await createTenant(service, { aiTranscription: false, clock });
  const location =
    (await createUpload(service, tenant, { "upload-length": "4" })).headers.get("location") ?? "";
  return { service, clock, tenant, location, id: location.split("/").at(-1)! };
}

/** Pretends that the open uploads last received bytes that long ago. */
async function setIdle({ service }: TestService, ms: number): Promise<void> {
  const at = sql<Date>`clock_timestamp() - ${ms}::float8 * interval '1 millisecond'`;
  const { kysely } = service.parts.database;
  await kysely.updateTable("video").set({ upload_active_at: at }).where("uploaded_at", "is", null).execute();
}

async function idleMs({ service }: TestService, id: string): Promise<number> {
  return (await findUpload(service.parts.database.kysely, id))!.idleMs;
}

async function sweepNow({ service }: TestService, clock: MovableClock): Promise<void> {
  const { database, queue, log, config, recordings, transcripts, ownership } = service.parts;
  const { uploadExpiryMs } = config;
  await sweep(
    { db: database.kysely, queue, clock, log, recordings, transcripts, ownership, uploadExpiryMs },
    { full: true, signal: new AbortController().signal },
  );
}

describe("an upload over tus", () => {
  test("with the stock client keeps its bytes and metadata, under the video's id", async () => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const file = Buffer.from("not really a video, but these very bytes".repeat(1000));
    const videoId = await upload(service, tenant, file, {
      chunkSize: 10_000,
      metadata: { filename: "fête ☀.mp4", empty: "" },
    });
    expect(videoId).toMatch(/^video_[0-9a-z]{26}$/);
    expect(await readRecording(service.service, videoId)).toEqual(file);
    const video = await rowsOf(service).video(videoId);
    expect(video).toMatchObject({
      environment_id: tenant.environmentId,
      metadata: { filename: "fête ☀.mp4" },
      size_bytes: file.length,
    });
    expect(video?.uploaded_at).toBeInstanceOf(Date);
  });

  test("is also accepted by an endpoint with a trailing slash", async () => {
    const tenant = await createTenant(service);
    const endpoint = `${service.url}/api/v1/uploads/`;
    const id = await upload(service, tenant, Buffer.from("bytes"), { endpoint });
    expect(await rowsOf(service).video(id)).toMatchObject({ id, size_bytes: 5 });
  });

  test("is accepted behind several proxies", async () => {
    const tenant = await createTenant(service);
    const proxied = { "x-forwarded-proto": "https,http" };
    const created = await createUpload(service, tenant, { "upload-length": "1", ...proxied });
    const location = created.headers.get("location") ?? "";
    expect((await patchUpload(service, tenant, location, 0, Buffer.from("x"), proxied)).status).toBe(204);
  });

  test("creates no transcription if AI Transcription is off, even after it is switched on", async () => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const videoId = await upload(service, tenant, Buffer.from("x"));
    const db = service.service.parts.database.kysely;
    await db
      .updateTable("environment")
      .set({ ai_transcription: true })
      .where("id", "=", tenant.environmentId)
      .execute();
    expect(await rowsOf(service).video(videoId)).toMatchObject({ ai_transcription: false });
    expect(await rowsOf(service).transcriptions(videoId)).toEqual([]);
  });

  test("creates one PENDING transcription if it is on, however often completion is reported", async () => {
    const tenant = await createTenant(service);
    const created = await createUpload(service, tenant, { "upload-length": "4" });
    const location = created.headers.get("location") ?? "";
    expect((await patchUpload(service, tenant, location, 0, Buffer.from("abcd"))).status).toBe(204);
    const again = await Promise.all(
      [1, 2, 3].map(() => patchUpload(service, tenant, location, 4, Buffer.alloc(0))),
    );
    expect(again.map(({ status }) => status)).toEqual([204, 204, 204]);
    const videoId = location.split("/").at(-1) ?? "";
    const transcriptions = await rowsOf(service).transcriptions(videoId);
    expect(transcriptions).toHaveLength(1);
    expect(transcriptions[0]).toMatchObject({ status: "PENDING", attempt: 0 });
  });

  test("continues after a restart of the server", async () => {
    const dataFolder = await temporaryFolder();
    const port = await freePort();
    const file = Buffer.alloc(300_000, "subtext");
    const before = await startService({ dataFolder, port });
    const tenant = await createTenant(before, { aiTranscription: false });
    const created = await createUpload(before, tenant, { "upload-length": String(file.length) });
    const location = created.headers.get("location") ?? "";
    await patchUpload(before, tenant, location, 0, file.subarray(0, 100_000));
    await before.service.stop();

    const after = await startService({ dataFolder, port });
    const videoId = await new Promise<string>((resolve, reject) => {
      const resumed = new tus.Upload(file, {
        uploadUrl: new URL(location, after.url).href,
        headers: { authorization: `Bearer ${tenant.key}` },
        retryDelays: [],
        onError: reject,
        onSuccess: () => resolve(resumed.url?.split("/").at(-1) ?? ""),
      });
      resumed.start();
    });
    expect(await readRecording(after.service, videoId)).toEqual(file);
    expect((await rowsOf(after).video(videoId))?.uploaded_at).toBeInstanceOf(Date);
  });

  test("can be canceled by its client while it runs, but not after it has finished", async () => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const end = (location: string) =>
      fetch(new URL(location, service.url), {
        method: "DELETE",
        headers: { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0" },
      });
    const open =
      (await createUpload(service, tenant, { "upload-length": "10" })).headers.get("location") ?? "";
    expect((await end(open)).status).toBe(204);
    expect((await patchUpload(service, tenant, open, 0, Buffer.from("x"))).status).toBe(404);

    const videoId = await upload(service, tenant, Buffer.from("done"));
    const refused = await end(`/api/v1/uploads/${videoId}`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "upload_rejected" }]);
    expect(await readRecording(service.service, videoId)).toEqual(Buffer.from("done"));
  });

  test("is invisible to another environment", async () => {
    const owner = await createTenant(service);
    const stranger = await createTenant(service);
    const location =
      (await createUpload(service, owner, { "upload-length": "10" })).headers.get("location") ?? "";
    for (const method of ["HEAD", "PATCH", "DELETE"]) {
      const response = await fetch(new URL(location, service.url), {
        method,
        headers: {
          authorization: `Bearer ${stranger.key}`,
          "tus-resumable": "1.0.0",
          "upload-offset": "0",
          "content-type": "application/offset+octet-stream",
        },
        ...(method === "PATCH" && { body: "stolen" }),
      });
      expect([method, response.status]).toEqual([method, 404]);
    }
    expect((await patchUpload(service, owner, location, 0, Buffer.from("0123456789"))).status).toBe(204);
  });
});

describe("an invalid upload request", () => {
  test.each<[string, Record<string, string>, number, string, content?: string]>([
    ["without a length", {}, 400, "upload_rejected"],
    [
      "with content that is longer than its length",
      { "upload-length": "1", "content-type": "application/offset+octet-stream" },
      413,
      "payload_too_large",
      "ab",
    ],
    ["with a length over the limit", { "upload-length": "1000001" }, 413, "payload_too_large"],
    ["with a negative length", { "upload-length": "-1" }, 400, "upload_rejected"],
    [
      "with metadata that is not base64",
      { "upload-length": "1", "upload-metadata": "a ???" },
      400,
      "upload_rejected",
    ],
    [
      "with metadata over 4 KB",
      { "upload-length": "1", "upload-metadata": `a ${Buffer.alloc(4096, "a").toString("base64")}` },
      400,
      "invalid_metadata",
    ],
    [
      "with U+0000 in its metadata",
      { "upload-length": "1", "upload-metadata": `a ${Buffer.from("a\0b").toString("base64")}` },
      400,
      "invalid_metadata",
    ],
    [
      "of another tus version",
      { "upload-length": "1", "tus-resumable": "0.2.2" },
      412,
      "upload_version_unsupported",
    ],
  ])("%s gets a problem with a code and creates nothing", async (_what, headers, status, code, content) => {
    const tenant = await createTenant(service);
    const response = await createUpload(service, tenant, headers, content);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect([response.status, await response.json()]).toMatchObject([status, { code, status }]);
    const open = await listOpenUploads(service.service.parts.database.kysely, {
      after: null,
      limit: 1_000,
    });
    expect(open.filter((video) => video.environment_id === tenant.environmentId)).toEqual([]);
  });

  test("with the wrong offset gets a conflict", async () => {
    const tenant = await createTenant(service);
    const location =
      (await createUpload(service, tenant, { "upload-length": "10" })).headers.get("location") ?? "";
    const response = await patchUpload(service, tenant, location, 5, Buffer.from("abcde"));
    expect([response.status, await response.json()]).toMatchObject([409, { code: "upload_conflict" }]);
  });

  test("needs a key with create_video", async () => {
    const reader = await createTenant(service, { permissions: ["get_video"] });
    const refused = await createUpload(service, reader, { "upload-length": "1" });
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "insufficient_permission" }]);
    const anonymous = await fetch(`${service.url}/api/v1/uploads`, { method: "POST" });
    expect([anonymous.status, await anonymous.json()]).toMatchObject([401, { code: "missing_api_key" }]);
  });
});

describe("the sweep", () => {
  test("accepts a finished upload that could not be accepted before", async () => {
    const tenant = await createTenant(service);
    const location =
      (await createUpload(service, tenant, { "upload-length": "4" })).headers.get("location") ?? "";
    const videoId = location.split("/").at(-1) ?? "";
    await writeRecording(service.service, videoId, "abcd");
    await sweepNow(service, clock);
    expect((await rowsOf(service).video(videoId))?.uploaded_at).toBeInstanceOf(Date);
    expect(await rowsOf(service).transcriptions(videoId)).toHaveLength(1);
  });

  test("keeps an upload that has lasted longer than the expiry and still receives bytes, as does the tus server", async () => {
    const service = await startService({ start: false });
    const tenant = await createTenant(service, { aiTranscription: false });
    const open =
      (await createUpload(service, tenant, { "upload-length": "4" })).headers.get("location") ?? "";
    const { database, config } = service.service.parts;
    const begunAt = new Date(Date.now() - config.uploadExpiryMs - HOUR_MS);
    await database.kysely.updateTable("video").set({ created_at: begunAt }).execute();
    await setIdle(service, 23 * HOUR_MS);
    expect((await patchUpload(service, tenant, open, 0, Buffer.from("ab"))).status).toBe(204);
    expect(await idleMs(service, open.split("/").at(-1)!)).toBeLessThan(HOUR_MS);
    await sweepNow(service, new MovableClock());
    expect((await patchUpload(service, tenant, open, 2, Buffer.from("cd"))).status).toBe(204);
    expect(await rowsOf(service).video(open.split("/").at(-1)!)).toMatchObject({ size_bytes: 4 });
  });

  test("keeps an upload whose bytes are arriving, whatever the clocks of the service and of the files say", async () => {
    const { service, clock, tenant, location, id } = await openUpload();
    let chunk!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        chunk = controller;
      },
    });
    await setIdle(service, 23 * HOUR_MS);
    const sending = patchUpload(service, tenant, location, 0, body);
    chunk.enqueue(Buffer.from("ab"));
    await until(async () => (await idleMs(service, id)) < HOUR_MS);
    clock.advance(1_000 * HOUR_MS);
    const { bucket, dataFolder } = service.service.parts.config;
    if (bucket === null) await utimes(join(dataFolder, "uploads", id), 0, 0);
    await sweepNow(service, clock);
    chunk.enqueue(Buffer.from("cd"));
    chunk.close();
    expect((await sending).status).toBe(204);
    expect((await rowsOf(service).video(id))?.uploaded_at).toBeInstanceOf(Date);
  });

  test("removes an expired upload, whatever the clocks of the service and of the files say", async () => {
    const { service, clock, tenant, location, id } = await openUpload();
    await patchUpload(service, tenant, location, 0, Buffer.from("ab"));
    await setIdle(service, 25 * HOUR_MS);
    clock.advance(-1_000 * HOUR_MS);
    expect((await patchUpload(service, tenant, location, 2, Buffer.from("cd"))).status).toBe(410);
    await sweepNow(service, clock);
    expect(await rowsOf(service).video(id)).toBeUndefined();
  });

  test("tells clients when an upload expires: one expiry period after its last bytes", async () => {
    const { service, tenant, location } = await openUpload();
    await setIdle(service, 20 * HOUR_MS);
    const { headers } = await patchUpload(service, tenant, location, 0, Buffer.from("a"));
    const later = await patchUpload(service, tenant, location, 1, Buffer.from("b"));
    const hoursLeft = (answer: Headers) =>
      (Date.parse(answer.get("upload-expires")!) - Date.parse(answer.get("date")!)) / HOUR_MS;
    expect(hoursLeft(later.headers)).toBeCloseTo(24, 1);
    expect(hoursLeft(headers)).toBeCloseTo(4, 1);
  });

  test("finds activity recorded while bytes arrive, not before a minute has passed, and not as a change of the video", async () => {
    const { service, id } = await openUpload();
    const db = service.service.parts.database.kysely;
    async function* chunks() {
      yield Buffer.from("ab");
      yield Buffer.from("cd");
    }
    const before = (await rowsOf(service).video(id))!;
    await Array.fromAsync(
      recordActivity(db, id, chunks(), { offset: 0, maxUploadBytes: 1_000_000, everyMs: 0 }),
    );
    expect(await rowsOf(service).video(id)).toEqual(before);

    const passing = recordActivity(db, id, chunks(), { offset: 0, maxUploadBytes: 1_000_000, everyMs: 0 });
    await passing.next();
    await setIdle(service, 20 * HOUR_MS);
    await passing.next();
    await passing.next();
    expect(await idleMs(service, id)).toBeLessThan(HOUR_MS);
    expect((await rowsOf(service).video(id))?.changed_at).toEqual(before.changed_at);
  });

  test("executes no statement for more bytes of an upload of known length", async () => {
    const { service, id } = await openUpload();
    let statements = 0;
    let results = 0;
    const db = service.service.parts.database.kysely.withPlugin({
      transformQuery({ node }) {
        statements += 1;
        return node;
      },
      async transformResult({ result }) {
        results += 1;
        return result;
      },
    });
    async function* chunks() {
      yield Buffer.from("ab");
      await until(async () => results === 1);
      yield Buffer.from("cd");
    }
    await Array.fromAsync(recordActivity(db, id, chunks(), { offset: 0, maxUploadBytes: 100 }));
    expect(statements).toBe(1);
  });

  test("removes expired uploads, and keeps finished ones and unknown files", async () => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const open =
      (await createUpload(service, tenant, { "upload-length": "4" })).headers.get("location") ?? "";
    await patchUpload(service, tenant, open, 0, Buffer.from("ab"));
    const openId = open.split("/").at(-1) ?? "";
    const finishedId = await upload(service, tenant, Buffer.from("done"));
    await writeRecording(service.service, "video_without_a_row", "x");

    await setIdle(service, 23 * HOUR_MS);
    await sweepNow(service, clock);
    expect((await rowsOf(service).video(openId))?.id).toBe(openId);

    await setIdle(service, 25 * HOUR_MS);
    await sweepNow(service, clock);
    expect(await rowsOf(service).video(openId)).toBeUndefined();
    // An upload that is accepted after the sweep listed it.
    const db = service.service.parts.database.kysely;
    expect(await deleteExpiredUpload(db, finishedId, 0)).toBe(false);
    const left = [openId, finishedId, "video_without_a_row"].map((id) => recordingBytes(service.service, id));
    expect(await Promise.all(left)).toEqual([0, "done".length, 1]);
  });
});

test("an empty file is accepted by tus and by an upload URL alike", async () => {
  const tenant = await createTenant(service);
  const byTus = await upload(service, tenant, Buffer.alloc(0));
  const created = await fetch(`${service.url}/api/v1/videos`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify({ sizeBytes: 0 }),
  });
  expect(created.status).toBe(201);
  const { video, upload: ticket } = (await created.json()) as {
    video: { id: string };
    upload: { url: string };
  };
  await new Promise<void>((resolve, reject) => {
    const running = new tus.Upload(Buffer.alloc(0), {
      uploadUrl: ticket.url,
      retryDelays: [],
      onError: reject,
      onSuccess: () => resolve(),
    });
    running.start();
  });
  const rows = rowsOf(service);
  for (const id of [byTus, video.id]) {
    expect(await rows.video(id)).toMatchObject({ uploaded_at: expect.any(Date), size_bytes: 0 });
    expect(await rows.transcriptions(id)).toHaveLength(1);
    expect(await recordingBytes(service.service, id)).toBe(0);
  }
});

test("a request for an upload URL whose body is not JSON gets an error that says what to send", async () => {
  const tenant = await createTenant(service);
  const refused = await fetch(`${service.url}/api/v1/videos`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "video/mp4" },
    body: "not JSON",
  });
  expect([refused.status, await refused.json()]).toMatchObject([
    415,
    { code: "unsupported_media_type", detail: expect.stringContaining("application/json") },
  ]);
});
