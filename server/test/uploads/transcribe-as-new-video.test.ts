import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { VideoView } from "../../src/admin/contract/video.ts";
import type { VideoDetailView } from "../../src/admin/contract/video-detail.ts";
import { sweepOpenUploads } from "../../src/cleanup/sweep-uploads.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { newId } from "../../src/lib/ids.ts";
import { transcribeAsNewVideo } from "../../src/uploads/transcribe-as-new-video.ts";
import { findVideo, insertVideo } from "../../src/videos/queries.ts";
import { codeOf, sendAsCommandLine } from "../admin/operator-requests.ts";
import { createTenant, shareService, until, upload } from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";

const subtext = shareService({ start: false });
const RECORDING = randomBytes(100_000);

/** Uploads a video while AI Transcription is off, then turns it on. */
async function untranscribedVideo() {
  const { service } = subtext;
  const { database, ...parts } = service.parts;
  const db = database.kysely;
  const tenant = await createTenant(subtext, { aiTranscription: false });
  const { environmentId } = tenant;
  const videoId = await upload(subtext, tenant, RECORDING);
  const turn = (on: boolean) => changeEnvironment(db, environmentId, { aiTranscription: on });
  await turn(true);
  const path = `/environments/${environmentId}/videos`;
  return {
    db,
    tenant,
    environmentId,
    videoId,
    turn,
    deps: { ...parts, db, maxUploadBytes: 1_000_000, uploadExpiryMs: 3_600_000 },
    source: async () => (await findVideo(db, videoId))!,
    transcribe: () => sendAsCommandLine(subtext, `${path}/${videoId}/transcribe-as-new`, { method: "POST" }),
    read: async (id: string) => (await sendAsCommandLine(subtext, `${path}/${id}`)).json<VideoDetailView>(),
    remove: (id: string) => sendAsCommandLine(subtext, `${path}/${id}`, { method: "DELETE" }),
    copies: () => db.selectFrom("video").selectAll().where("source_video_id", "=", videoId).execute(),
  };
}

const sweep = ({ deps }: Awaited<ReturnType<typeof untranscribedVideo>>) =>
  sweepOpenUploads(deps, new AbortController().signal);

test("a copy of the recording is queued as a new video, which stays when the old one is deleted", async () => {
  const { db, videoId, environmentId, transcribe, read, remove } = await untranscribedVideo();
  const before = await read(videoId);
  const response = await transcribe();
  expect(response.statusCode).toBe(201);
  const { id, ...view } = response.json<VideoView>();
  expect(view).toMatchObject({
    environmentId,
    state: "pending",
    filename: before.filename,
    sizeBytes: RECORDING.length,
  });
  expect(await read(id)).toMatchObject({
    metadata: before.metadata,
    sourceVideo: { id: videoId, filename: before.filename },
  });
  expect(await read(videoId)).toEqual(before);
  const audited = db.selectFrom("audit_event").select("detail").where("action", "=", "video.copied");
  expect(await audited.where("subject_id", "=", id).execute()).toEqual([{ detail: { source: videoId } }]);

  expect((await remove(videoId)).statusCode).toBe(204);
  expect((await readRecording(subtext.service, id))?.equals(RECORDING)).toBe(true);
  expect(await read(id)).toMatchObject({ state: "pending", sourceVideo: null });
});

test("while AI Transcription is off, nothing is copied", async () => {
  const { transcribe, turn, copies, deps, source } = await untranscribedVideo();
  await turn(false);
  const response = await transcribe();
  expect(codeOf(response)).toEqual([409, "ai_transcription_off"]);
  let isCopied = false;
  const copy = async () => {
    isCopied = true;
  };
  const copying = transcribeAsNewVideo({ ...deps, recordings: { ...deps.recordings, copy } }, await source());
  await expect(copying).rejects.toMatchObject({ code: "ai_transcription_off" });
  expect(isCopied).toBe(false);
  expect(await copies()).toEqual([]);
});

test("if AI Transcription is turned off during the copy, the copy is removed", async () => {
  const { deps, source, turn, copies } = await untranscribedVideo();
  let copied = "";
  const recordings = {
    ...deps.recordings,
    async copy(from: string, to: string) {
      await deps.recordings.copy(from, to);
      copied = to;
      await turn(false);
    },
  };
  const copying = transcribeAsNewVideo({ ...deps, recordings }, await source());
  await expect(copying).rejects.toMatchObject({ code: "ai_transcription_off" });
  expect(await copies()).toEqual([]);
  expect(await readRecording(subtext.service, copied)).toBeNull();
});

test("a copy that was accepted although the response of the database was lost stays", async () => {
  const { deps, source, copies } = await untranscribedVideo();
  const onAccepted = () => {
    throw new Error("the connection broke");
  };
  await expect(transcribeAsNewVideo({ ...deps, onAccepted }, await source())).rejects.toThrow("broke");
  const [copy] = await copies();
  expect(copy).toMatchObject({ uploaded_at: expect.any(Date) });
  expect((await readRecording(subtext.service, copy!.id))?.equals(RECORDING)).toBe(true);
});

test("a recording that retention deleted cannot be copied, even if it is deleted during the copy", async () => {
  const { db, videoId, transcribe, copies, deps, source } = await untranscribedVideo();
  const remove = async () => {
    const change = { recording_deleted_at: new Date() };
    await db.updateTable("video").set(change).where("id", "=", videoId).execute();
    await deps.recordings.remove(videoId);
  };
  const recordings = {
    ...deps.recordings,
    async copy(from: string, to: string) {
      await remove();
      await deps.recordings.copy(from, to);
    },
  };
  const copying = transcribeAsNewVideo({ ...deps, recordings }, await source());
  await expect(copying).rejects.toMatchObject({ code: "recording_deleted" });
  // Retention removes the file after its transaction.
  await writeRecording(subtext.service, videoId, RECORDING);
  const response = await transcribe();
  expect(codeOf(response)).toEqual([410, "recording_deleted"]);
  expect(await copies()).toEqual([]);
});

test("a video that is being uploaded or transcribed cannot be copied", async () => {
  const { db, environmentId, tenant, deps, source, copies } = await untranscribedVideo();
  const pending = await upload(subtext, tenant, RECORDING);
  const id = newId("video");
  await insertVideo(db, { id, environmentId, metadata: {}, sizeBytes: 1, now: new Date() });
  for (const unfinished of [pending, id]) {
    const copying = transcribeAsNewVideo(deps, { ...(await source()), ...(await findVideo(db, unfinished)) });
    await expect(copying).rejects.toMatchObject({ code: "video_not_finished" });
  }
  expect(await copies()).toEqual([]);
});

test("after a crash between copy and acceptance, the sweep accepts the copy", async () => {
  const world = await untranscribedVideo();
  const { deps, source, copies, read } = world;
  let isCopied = false;
  const sync = () => {
    isCopied = true;
    return new Promise<void>(() => {});
  };
  // Never ends, like in a process that crashed.
  void transcribeAsNewVideo({ ...deps, recordings: { ...deps.recordings, sync } }, await source());
  await until(async () => isCopied);
  expect(await copies()).toMatchObject([{ uploaded_at: null }]);

  await sweep(world);
  const [copy] = await copies();
  expect(await read(copy!.id)).toMatchObject({ state: "pending", sizeBytes: RECORDING.length });
  expect((await readRecording(subtext.service, copy!.id))?.equals(RECORDING)).toBe(true);
});

test("after a crash, the sweep removes an incomplete copy when it expires, and any copy if AI Transcription is off", async () => {
  const world = await untranscribedVideo();
  const { db, deps, environmentId, videoId, turn, copies } = world;
  const create = async (content: Buffer) => {
    const id = newId("video");
    const sizeBytes = RECORDING.length;
    const now = new Date();
    await insertVideo(db, { id, environmentId, metadata: {}, sizeBytes, sourceVideoId: videoId, now });
    await writeRecording(subtext.service, id, content);
    return id;
  };
  const incomplete = await create(RECORDING.subarray(0, 10));
  await sweep(world);
  expect(await copies()).toMatchObject([{ id: incomplete, uploaded_at: null }]);
  await sweep({ ...world, deps: { ...deps, uploadExpiryMs: -1 } });
  expect(await copies()).toEqual([]);

  const complete = await create(RECORDING);
  await turn(false);
  await sweep(world);
  expect(await copies()).toEqual([]);
  for (const id of [incomplete, complete]) expect(await readRecording(subtext.service, id)).toBeNull();
});
