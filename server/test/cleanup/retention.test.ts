import { sql } from "kysely";
import { expect, test } from "vitest";
import { readMissingFiles } from "../../src/cleanup/missing-file-queries.ts";
import { applyRetention } from "../../src/cleanup/retention.ts";
import { sweep } from "../../src/cleanup/sweep.ts";
import { checkAllFiles } from "../../src/cleanup/sweep-missing-files.ts";
import type { Schema } from "../../src/db/schema.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { diagnose } from "../../src/health/doctor.ts";
import { serializeTranscription } from "../../src/resources/serializers.ts";
import { fileKey, filePrefix, TRANSCRIPTS_PREFIX } from "../../src/storage/transcript-files.ts";
import { findTranscription } from "../../src/transcription/queries.ts";
import { codeOf, sendAsCommandLine } from "../admin/operator-requests.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, MovableClock, shareService, type Tenant, upload } from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";

const DAY_MS = 86_400_000;

const clock = new MovableClock();
const subtext = shareService({ start: false, clock });
const running = new AbortController().signal;

function deps() {
  const { parts } = subtext.service;
  const { queue, log, transcripts, recordings, ownership } = parts;
  return {
    db: parts.database.kysely,
    queue,
    log,
    clock,
    transcripts,
    recordings,
    ownership,
    uploadExpiryMs: 3_600_000,
  };
}

/** A completed video that is so many days old, with its recording and its three files. */
async function completed(environmentId: string, daysAgo: number) {
  const { db, transcripts } = deps();
  const seed = { environmentId, language: "en", text: "some words" };
  const { videoId, transcriptionId } = await seedTranscript(subtext.service, seed);
  for (const format of ["vtt", "txt"] as const)
    await transcripts.put(fileKey(filePrefix(transcriptionId, 1), format), Buffer.from("made"));
  await writeRecording(subtext.service, videoId, "recording");
  await endAt(videoId, { uploaded: daysAgo, finished: daysAgo });
  return { db, videoId, transcriptionId };
}

async function endAt(videoId: string, ago: { uploaded: number; finished: number }): Promise<void> {
  const at = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
  const { db } = deps();
  await db
    .updateTable("video")
    .set({ uploaded_at: at(ago.uploaded) })
    .where("id", "=", videoId)
    .execute();
  await db
    .updateTable("transcription")
    .set({ finished_at: at(ago.finished) })
    .where("video_id", "=", videoId)
    .execute();
}

async function setStatus(videoId: string, status: Schema["transcription"]["status"]): Promise<void> {
  await deps()
    .db.updateTable("transcription")
    .set({ status, file_prefix: null, failure_code: status === "FAILED" ? "unreadable_media" : null })
    .where("video_id", "=", videoId)
    .execute();
}

async function read({ key }: Tenant, path: string) {
  const response = await fetch(`${subtext.url}/api/v1/videos/${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

test("nothing is deleted because of its age unless its environment has a retention setting", async () => {
  const [off, on] = [await createTenant(subtext), await createTenant(subtext)];
  const untouched = await completed(off.environmentId, 4000);
  const due = await completed(on.environmentId, 4000);
  await changeEnvironment(deps().db, on.environmentId, { retention: { days: 30, deletes: "recording" } });
  await applyRetention(deps(), running);
  expect(await readRecording(subtext.service, untouched.videoId)).not.toBeNull();
  expect(await readRecording(subtext.service, due.videoId)).toBeNull();
});

test("retention of recordings keeps the transcript, and URLs to download it", async () => {
  const tenant = await createTenant(subtext);
  const { videoId } = await completed(tenant.environmentId, 31);
  const young = await completed(tenant.environmentId, 29);
  await changeEnvironment(deps().db, tenant.environmentId, { retention: { days: 30, deletes: "recording" } });
  await applyRetention(deps(), running);

  expect(await readRecording(subtext.service, videoId)).toBeNull();
  expect(await readRecording(subtext.service, young.videoId)).not.toBeNull();
  const { body } = await read(tenant, `${videoId}/transcription`);
  expect(body).toMatchObject({ status: "COMPLETED" });
  const json = await fetch((body as unknown as { files: { json: { url: string } } }).files.json.url);
  expect(await json.json()).toMatchObject([{ word: "some" }, { word: "words" }]);

  const page = `/environments/${tenant.environmentId}/videos/${videoId}`;
  expect((await sendAsCommandLine(subtext, page)).json()).toMatchObject({
    media: null,
    recordingDeletedAt: expect.any(String),
  });
  expect(codeOf(await sendAsCommandLine(subtext, `${page}/media`))).toEqual([410, "recording_deleted"]);
  const head = await fetch(`${subtext.url}/api/v1/uploads/${videoId}`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${tenant.key}`, "tus-resumable": "1.0.0" },
  });
  expect(head.status).toBe(410);
});

test("retention of videos removes every row and file, even if the recording was removed before", async () => {
  const tenant = await createTenant(subtext);
  const { db, transcripts } = deps();
  const { videoId, transcriptionId } = await completed(tenant.environmentId, 31);
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 30, deletes: "recording" } });
  await applyRetention(deps(), running);
  const other = await completed(tenant.environmentId, 31);
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 30, deletes: "video" } });
  await applyRetention(deps(), running);
  for (const id of [videoId, other.videoId]) {
    expect((await read(tenant, id)).status).toBe(404);
    expect(await readRecording(subtext.service, id)).toBeNull();
  }
  for (const id of [transcriptionId, other.transcriptionId])
    expect(await Array.fromAsync(transcripts.list(`${TRANSCRIPTS_PREFIX}${id}/`))).toEqual([]);
});

test("waiting and running transcriptions are kept, however old; failed ones until they are due", async () => {
  const tenant = await createTenant(subtext);
  const { db } = deps();
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 7, deletes: "video" } });
  const make = async (status: Schema["transcription"]["status"], finished: number) => {
    const { videoId } = await completed(tenant.environmentId, 400);
    await setStatus(videoId, status);
    await endAt(videoId, { uploaded: 400, finished });
    return videoId;
  };
  const remaining = [await make("PENDING", 400), await make("PROCESSING", 400), await make("FAILED", 6)];
  const gone = [await make("FAILED", 8), await make("SKIPPED", 8)];
  await applyRetention(deps(), running);
  for (const id of remaining) expect(await readRecording(subtext.service, id)).not.toBeNull();
  for (const id of gone) expect(await readRecording(subtext.service, id)).toBeNull();
});

test("the age of a video without a transcription counts from the end of its upload", async () => {
  const tenant = await createTenant(subtext, { aiTranscription: false });
  const { db } = deps();
  const old = await upload(subtext, tenant, Buffer.from("old"));
  const young = await upload(subtext, tenant, Buffer.from("young"));
  await endAt(old, { uploaded: 3, finished: 3 });
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 2, deletes: "recording" } });
  await applyRetention(deps(), running);
  expect(await readRecording(subtext.service, old)).toBeNull();
  expect(await readRecording(subtext.service, young)).not.toBeNull();
  expect(await read(tenant, old)).toMatchObject({ status: 200 });
});

test("a failed transcription without a recording cannot be reprocessed, and the error says why", async () => {
  const tenant = await createTenant(subtext);
  const { videoId } = await completed(tenant.environmentId, 31);
  await setStatus(videoId, "FAILED");
  await changeEnvironment(deps().db, tenant.environmentId, { retention: { days: 30, deletes: "recording" } });
  await applyRetention(deps(), running);
  const path = `/environments/${tenant.environmentId}/videos/${videoId}/reprocess`;
  const refused = await sendAsCommandLine(subtext, path, { method: "POST" });
  expect(codeOf(refused)).toEqual([410, "recording_deleted"]);
});

test("a video that was due when it was listed but is reprocessed in the meantime is not deleted", async () => {
  const tenant = await createTenant(subtext);
  const { db, recordings } = deps();
  const first = await completed(tenant.environmentId, 40);
  const second = await completed(tenant.environmentId, 39);
  await setStatus(second.videoId, "FAILED");
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 30, deletes: "video" } });
  const path = `/environments/${tenant.environmentId}/videos/${second.videoId}/reprocess`;
  const reprocessing = {
    ...recordings,
    async remove(videoId: string) {
      if (videoId === first.videoId) await sendAsCommandLine(subtext, path, { method: "POST" });
      await recordings.remove(videoId);
    },
  };
  await applyRetention({ ...deps(), recordings: reprocessing }, running);
  expect((await read(tenant, first.videoId)).status).toBe(404);
  expect(await read(tenant, `${second.videoId}/transcription`)).toMatchObject({
    body: { status: "PENDING" },
  });
});

test("a video that was due when it was listed but is transcribed again in the meantime is not deleted", async () => {
  const tenant = await createTenant(subtext);
  const { db, recordings } = deps();
  const first = await completed(tenant.environmentId, 40);
  const second = await completed(tenant.environmentId, 39);
  const third = await completed(tenant.environmentId, 38);
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 30, deletes: "video" } });
  const transcribing = {
    ...recordings,
    async remove(videoId: string) {
      if (videoId === first.videoId) {
        await endAt(second.videoId, { uploaded: 39, finished: 0 });
        await setStatus(third.videoId, "PROCESSING");
      }
      await recordings.remove(videoId);
    },
  };
  await applyRetention({ ...deps(), recordings: transcribing }, running);
  expect((await read(tenant, first.videoId)).status).toBe(404);
  for (const { videoId } of [second, third]) {
    expect((await read(tenant, videoId)).status).toBe(200);
    expect(await readRecording(subtext.service, videoId)).not.toBeNull();
  }
});

test("files that remain after a crash during retention are removed by the sweep", async () => {
  const tenant = await createTenant(subtext);
  const { db, recordings } = deps();
  const { videoId } = await completed(tenant.environmentId, 31);
  await changeEnvironment(db, tenant.environmentId, { retention: { days: 30, deletes: "recording" } });
  const dead = {
    ...recordings,
    async remove() {
      throw new Error("the machine lost power");
    },
  };
  await applyRetention({ ...deps(), recordings: dead }, running);
  expect(await readRecording(subtext.service, videoId)).not.toBeNull();
  await sweep(deps(), { full: true, signal: running });
  expect(await readRecording(subtext.service, videoId)).toBeNull();
});

test("the number of affected videos is shown before a setting is saved, and the setting is validated", async () => {
  const tenant = await createTenant(subtext);
  for (const days of [5, 15, 25]) await completed(tenant.environmentId, days);
  const path = `/environments/${tenant.environmentId}`;
  const effect = async (days: number, deletes = "recording") =>
    (await sendAsCommandLine(subtext, `${path}/retention-effect?days=${days}&deletes=${deletes}`)).json();
  expect(await effect(10)).toEqual({ videos: 2 });
  expect(await effect(1, "video")).toEqual({ videos: 3 });
  const set = (retention: unknown) =>
    sendAsCommandLine(subtext, path, { method: "PATCH", body: { retention } });
  expect((await set({ days: 10, deletes: "recording" })).json()).toMatchObject({
    retention: { days: 10, deletes: "recording" },
  });
  expect(codeOf(await set({ days: 0, deletes: "recording" }))).toEqual([400, "invalid_request"]);
  expect(codeOf(await set({ days: 10, deletes: "all" }))).toEqual([400, "invalid_request"]);
  await applyRetention(deps(), running);
  expect(await effect(10)).toEqual({ videos: 0 });
  expect(await effect(10, "video")).toEqual({ videos: 2 });
  expect((await set(null)).json()).toMatchObject({ retention: null });
});

test("a transcript from before a format was added is complete without a file of that format", async () => {
  const tenant = await createTenant(subtext);
  const { db, transcripts } = deps();
  const { videoId, transcriptionId } = await completed(tenant.environmentId, 1);
  await transcripts.remove(fileKey(filePrefix(transcriptionId, 1), "txt"));
  const formats = JSON.stringify(["vtt", "json"]);
  await db
    .updateTable("transcription")
    .set({ file_formats: formats })
    .where("id", "=", transcriptionId)
    .execute();
  await checkAllFiles(deps(), running);
  const missing = db.selectFrom("missing_file").select("part").where("video_id", "=", videoId);
  expect(await missing.execute()).toEqual([]);
  const row = await findTranscription(db, transcriptionId);
  const signing = { transcripts, now: clock.now(), videoMetadata: {} };
  const { files } = await serializeTranscription(row!, signing);
  expect(Object.keys(files!)).toEqual(["vtt", "json"]);
  const file = (format: string) =>
    sendAsCommandLine(subtext, `/environments/${tenant.environmentId}/videos/${videoId}/files/${format}`);
  expect((await file("vtt")).statusCode).toBe(200);
  expect(codeOf(await file("txt"))).toEqual([404, "transcript_not_found"]);
});

test("a format that a newer process has written is left out", async () => {
  const tenant = await createTenant(subtext);
  const { db, transcripts } = deps();
  const { transcriptionId } = await completed(tenant.environmentId, 1);
  const row = await findTranscription(db, transcriptionId);
  const formats = [...row!.file_formats, "newer" as "vtt"];
  const signing = { transcripts, now: clock.now(), videoMetadata: {} };
  const { files } = await serializeTranscription({ ...row!, file_formats: formats }, signing);
  expect(Object.keys(files!)).toEqual(["vtt", "json", "txt"]);
});

test("missing files are recorded until they are back, and their rows are never deleted", async () => {
  const tenant = await createTenant(subtext);
  const { db, transcripts, recordings } = deps();
  const whole = await completed(tenant.environmentId, 1);
  const lost = await completed(tenant.environmentId, 1);
  const key = fileKey(filePrefix(lost.transcriptionId, 1), "vtt");
  await recordings.remove(lost.videoId);
  await transcripts.remove(key);
  await checkAllFiles(deps(), running);
  const noted = async () =>
    await db
      .selectFrom("missing_file")
      .select(["video_id", "part"])
      .where("video_id", "in", [whole.videoId, lost.videoId])
      .orderBy("part")
      .execute();
  expect(await noted()).toEqual([
    { video_id: lost.videoId, part: "recording" },
    { video_id: lost.videoId, part: "transcript" },
  ]);
  expect(await read(tenant, lost.videoId)).toMatchObject({ status: 200 });
  await transcripts.put(key, Buffer.from("WEBVTT"));
  await checkAllFiles(deps(), running);
  expect(await noted()).toEqual([{ video_id: lost.videoId, part: "recording" }]);
  await db.deleteFrom("video").where("id", "=", lost.videoId).execute();
  expect(await noted()).toEqual([]);
});

test("the query for due videos uses an index, however many were deleted before", async () => {
  const { rows } = await deps()
    .db.transaction()
    .execute(async (tx) => {
      // In a small table a sort may be cheaper.
      await sql`set local enable_sort = off`.execute(tx);
      return await sql<{ "QUERY PLAN": string }>`
        explain select id from video where environment_id = 'env' and recording_deleted_at is null
        and uploaded_at < now() order by uploaded_at, id limit 200`.execute(tx);
    });
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("video_with_recording");
});

test("the doctor reports missing files after a check", async () => {
  const { environmentId } = await createTenant(subtext);
  const { videoId } = await completed(environmentId, 1);
  await deps().recordings.remove(videoId);
  const looked = await sendAsCommandLine(subtext, "/file-check", { method: "POST" });
  expect(looked.json<{ videos: number }>().videos).toBeGreaterThan(0);
  const known = await readMissingFiles(deps().db);
  expect(known.missing.recording).toBeGreaterThan(0);
  expect(known.checkedAt).toBeInstanceOf(Date);
  const config = subtext.service.parts.config;
  const absent = () => Promise.reject(new Error("not looked at"));
  const findings = await diagnose(config, {
    database: absent,
    storage: absent,
    engine: absent,
    memory: absent,
    model: () => subtext.service.parts.models.state(),
    files: async () => known,
    workers: absent,
    cleanup: absent,
  });
  expect(findings.find(({ name }) => name === "files")).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("Missing: the recordings of"),
  });
});
