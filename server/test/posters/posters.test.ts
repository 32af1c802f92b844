import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CompiledQuery, sql } from "kysely";
import { PgBoss } from "pg-boss";
import { beforeAll, describe, expect, test } from "vitest";
import type { VideoPageView } from "../../src/admin/contract/video.ts";
import { listVideoFiles } from "../../src/backup/video-files.ts";
import { sweepLostJobs } from "../../src/cleanup/reconcile-jobs.ts";
import { applyRetention } from "../../src/cleanup/retention.ts";
import { checkAllFiles } from "../../src/cleanup/sweep-missing-files.ts";
import { sweepStoredFiles } from "../../src/cleanup/sweep-stored-files.ts";
import type { Db } from "../../src/db/schema.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { makePoster } from "../../src/posters/make-poster.ts";
import { finishPoster } from "../../src/posters/queries.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { openPosterDecoder } from "../../src/speech/speech.ts";
import { UNFINISHED_FOLDER } from "../../src/storage/disk/disk-transcript-store.ts";
import { filePrefix, posterKey, waveformKey } from "../../src/storage/transcript-files.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { openUploadLocker } from "../../src/uploads/open-upload-locker.ts";
import { deleteVideo } from "../../src/videos/delete-video.ts";
import {
  addOperator,
  codeOf,
  cookieOf,
  send,
  sendAsCommandLine,
  setUp,
  signIn,
} from "../admin/operator-requests.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import {
  createTenant,
  MovableClock,
  shareService,
  type Tenant,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";
import { writeRecording } from "../support/stored-recording.ts";

const media = (name: string) =>
  readFile(join(import.meta.dirname, "../../../speech/test/fixtures/media", name));
const never = new AbortController().signal;
const posterDecoder = openPosterDecoder({ ffmpegPath: null });
const DAY_MS = 86_400_000;

describe("after an upload", { timeout: 120_000 }, () => {
  const subtext = shareService();
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await createTenant(subtext);
    await setUp(subtext);
  });

  async function untilPoster(name: string): Promise<VideoPageView["data"][number]> {
    const videoId = await upload(subtext, tenant, await media(name), { metadata: { filename: name } });
    await untilEnded(subtext, tenant, videoId);
    return await until(async () => {
      const page = await sendAsCommandLine(subtext, `/environments/${tenant.environmentId}/videos`);
      const video = page.json<VideoPageView>().data.find(({ id }) => id === videoId);
      return video?.poster ? video : undefined;
    });
  }

  test("a video gets a frame, which only operators of its environment can read", async () => {
    const video = await untilPoster("poster-after-fade.mp4");
    expect(video).toMatchObject({ state: "skipped", poster: { kind: "frame" } });
    const other = await createTenant(subtext);
    const cookie = async (environment: string, email: string) => {
      const access = { environments: [{ environment, role: "viewer" as const }] };
      return cookieOf(await signIn(subtext, await addOperator(subtext, { email, ...access })));
    };
    const path = `/environments/${tenant.environmentId}/videos/${video.id}/poster`;
    const headers = { cookie: await cookie(tenant.environmentId, "viewer@subtext.example") };
    const response = await send(subtext, path, { headers });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": "image/jpeg",
      "cache-control": "private, max-age=86400, immutable",
      vary: expect.stringContaining("cookie"),
    });
    expect(response.rawPayload.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    const again = await send(subtext, path, {
      headers: { ...headers, "if-none-match": String(response.headers.etag) },
    });
    expect(again.statusCode).toBe(304);

    expect((await send(subtext, path)).statusCode).toBe(401);
    const stranger = { cookie: await cookie(other.environmentId, "stranger@subtext.example") };
    expect(codeOf(await send(subtext, path, { headers: stranger }))).toEqual([404, "environment_not_found"]);
  });

  test("a recording with a cover gets levels instead of a frame", async () => {
    const { id, poster } = await untilPoster("cover-art-beeps.mp3");
    expect(poster).toMatchObject({ kind: "levels" });
    const levels = poster?.kind === "levels" ? poster.levels : [];
    expect(Math.max(...levels)).toBe(15);
    const response = await sendAsCommandLine(
      subtext,
      `/environments/${tenant.environmentId}/videos/${id}/poster`,
    );
    expect(codeOf(response)).toEqual([404, "poster_not_found"]);
  });
});

describe("the job", { timeout: 120_000 }, () => {
  const clock = new MovableClock();
  const subtext = shareService({ start: false, clock });
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await createTenant(subtext, { clock });
  });

  /** A completed video whose poster waits for its job. */
  async function waiting(recording: Buffer, environmentId = tenant.environmentId) {
    const { parts } = subtext.service;
    const { queue, recordings, transcripts, log, database, ownership } = parts;
    const db = database.kysely;
    const seeded = await seedTranscript(subtext.service, { environmentId, language: "en", text: "a b" });
    await writeRecording(subtext.service, seeded.videoId, recording);
    const { transcriptionId } = seeded;
    const jobId = newJobId();
    await db
      .updateTable("transcription")
      .set({ poster_job_id: jobId })
      .where("id", "=", transcriptionId)
      .execute();
    const deps = { db, queue, recordings, transcripts, posterDecoder, clock, log, ownership };
    const row = () =>
      db.selectFrom("transcription").selectAll().where("id", "=", transcriptionId).executeTakeFirst();
    const run = async (retryCount = 0, shutdown = never, id = jobId) =>
      await makePoster(deps, { id, subjectId: transcriptionId, signal: never, retryCount }, shutdown);
    const key = posterKey(filePrefix(transcriptionId, 1));
    return { ...seeded, jobId, deps, row, run, key };
  }

  async function countJobs(db: Db, id: string): Promise<number> {
    const { rows } = await sql`select from pgboss.job where name = 'poster' and id = ${id}`.execute(db);
    return rows.length;
  }

  test("stores one frame, even if it runs twice", async () => {
    const { transcriptionId, deps, row, run, key } = await waiting(await media("poster-portrait.webm"));
    await run();
    expect(await row()).toMatchObject({ poster_prefix: filePrefix(transcriptionId, 1), poster_levels: null });
    const before = await row();
    await run(1);
    expect(await row()).toEqual(before);
    expect(await deps.transcripts.inspect(key)).not.toBeNull();
  });

  test("gives up after two tries, and the transcription stays as it is", async () => {
    const { row, run } = await waiting(Buffer.from("not media at all, but long enough to be read"));
    const before = await row();
    await expect(run(0)).rejects.toMatchObject({ code: "unreadable_media" });
    expect(await row()).toEqual(before);
    await run(1);
    const { changed_at: _, ...after } = (await row())!;
    expect(after).toMatchObject({ poster_prefix: null, poster_ended_at: expect.any(Date) });
    expect({ ...before, ...after }).toEqual({ ...before, poster_ended_at: after.poster_ended_at });
  });

  test("gives up without a try if two workers were lost while it ran", async () => {
    const { row, run } = await waiting(await media("poster-portrait.webm"));
    await run(2);
    expect(await row()).toMatchObject({ poster_prefix: null, poster_ended_at: expect.any(Date) });
  });

  test("is replaced at a shutdown, which does not count as a try", async () => {
    const { jobId, deps, row, run } = await waiting(await media("poster-portrait.webm"));
    await run(1, AbortSignal.abort(new Error("stopping")));
    const { poster_job_id: next } = (await row())!;
    expect(next).not.toBe(jobId);
    expect(await row()).toMatchObject({ poster_ended_at: null });
    expect(await countJobs(deps.db, next!)).toBe(1);
    await run(0, never, next!);
    expect(await row()).toMatchObject({ poster_prefix: expect.any(String) });
  });

  test("ends without a poster if the recording is missing or black", async () => {
    const missing = await waiting(await media("poster-portrait.webm"));
    await missing.deps.recordings.remove(missing.videoId);
    await missing.run();
    expect(await missing.row()).toMatchObject({ poster_prefix: null, poster_ended_at: expect.any(Date) });
    const black = await waiting(await media("video-only.mp4"));
    await black.run();
    expect(await black.row()).toMatchObject({ poster_prefix: null, poster_ended_at: expect.any(Date) });
  });

  test("does nothing for a deleted video, and its frame is deleted with the video", async () => {
    const { videoId, deps, run, key } = await waiting(await media("poster-portrait.webm"));
    await run();
    expect(await deps.transcripts.inspect(key)).not.toBeNull();
    const { environmentId } = tenant;
    const others = { running: new RunningAttempts(deps.db), locker: openUploadLocker(null) };
    await deleteVideo({ ...deps, ...others }, { environmentId, videoId });
    expect(await deps.transcripts.inspect(key)).toBeNull();
    await run();
  });

  test("uses the waveform of a recording without video", async () => {
    const { transcriptionId, deps, row, run } = await waiting(await media("m4a-aac-beeps.m4a"));
    const prefix = filePrefix(transcriptionId, 1);
    const peaks = Buffer.from(Array.from({ length: 80 }, (_, index) => (index < 40 ? 0 : 100)));
    const waveform = { duration: 8, whole: true, peaksPerSecond: 10, peaks: peaks.toString("base64") };
    await deps.transcripts.put(waveformKey(prefix), Buffer.from(JSON.stringify(waveform)));
    const named = deps.db.updateTable("transcription").set({ waveform_prefix: prefix });
    await named.where("id", "=", transcriptionId).execute();
    await run();
    expect(await row()).toMatchObject({ poster_levels: "0".repeat(20) + "f".repeat(20) });
  });

  test("stores the frame where a backup finds it, even if there is no transcript", async () => {
    const { videoId, transcriptionId, deps, run } = await waiting(await media("poster-portrait.webm"));
    const skipped = deps.db.updateTable("transcription").set({ status: "SKIPPED", file_prefix: null });
    await skipped.where("id", "=", transcriptionId).execute();
    await run();
    const query = async <Row>(text: string, values: readonly unknown[] = []) =>
      (await deps.db.executeQuery(CompiledQuery.raw(text, [...values]))).rows as Row[];
    const files = (await Array.fromAsync(listVideoFiles(query))).find((video) => video.videoId === videoId);
    expect(files?.folders).toEqual([`files/${filePrefix(transcriptionId, 1)}`]);
  });

  test("is not repeated for a video without a transcript while none of its files is found", async () => {
    const recording = await media("poster-portrait.webm");
    const { videoId, transcriptionId, deps, row, run, key } = await waiting(recording);
    const skipped = deps.db.updateTable("transcription").set({ status: "SKIPPED", file_prefix: null });
    await skipped.where("id", "=", transcriptionId).execute();
    await run();
    const before = await row();
    // As if the storage were not mounted.
    for (const file of await Array.fromAsync(deps.transcripts.list(`transcripts/${transcriptionId}/`)))
      await deps.transcripts.remove(file);
    await deps.recordings.remove(videoId);
    await checkAllFiles(deps, never);
    expect(await row()).toEqual(before);

    await writeRecording(subtext.service, videoId, recording);
    await checkAllFiles(deps, never);
    const { poster_job_id: next } = (await row())!;
    expect(next).not.toBe(before!.poster_job_id);
    await run(0, never, next!);
    expect(await deps.transcripts.inspect(key)).not.toBeNull();
  });

  test("is not repeated while only the folder of transcripts is unmounted, which the check of files reports", async (context) => {
    const { bucket, dataFolder } = subtext.service.parts.config;
    if (bucket !== null) return context.skip("a bucket has no folders");
    const { transcriptionId, deps, row, run } = await waiting(await media("poster-portrait.webm"));
    const skipped = deps.db.updateTable("transcription").set({ status: "SKIPPED", file_prefix: null });
    await skipped.where("id", "=", transcriptionId).execute();
    await run();
    const before = await row();
    const missing = () => deps.db.selectFrom("missing_file").selectAll().execute();
    const known = await missing();
    const [folder, aside] = [join(dataFolder, "files"), join(dataFolder, "files-aside")];
    await rename(folder, aside);
    await mkdir(folder);
    await expect(checkAllFiles(deps, never)).rejects.toMatchObject({ code: "storage_unavailable" });
    const key = posterKey(filePrefix(transcriptionId, 2));
    const put = deps.transcripts.put(key, Buffer.from("not on the disk"));
    await expect(put).rejects.toMatchObject({ code: "storage_unavailable" });
    // As if the service had started meanwhile.
    await mkdir(join(folder, UNFINISHED_FOLDER));
    await checkAllFiles(deps, never);
    expect(await row()).toEqual(before);
    await rm(folder, { recursive: true });
    await rename(aside, folder);
    await checkAllFiles(deps, never);
    expect([await row(), await missing()]).toEqual([before, known]);
  });

  test("retention deletes the frame with the recording, and ends a running job", async () => {
    const { environmentId } = await createTenant(subtext, { clock });
    const made = await waiting(await media("poster-portrait.webm"), environmentId);
    const running = await waiting(await media("poster-portrait.webm"), environmentId);
    await made.run();
    const { deps } = made;
    await changeEnvironment(deps.db, environmentId, { retention: { days: 1, deletes: "recording" } });
    clock.advance(2 * DAY_MS);
    await applyRetention(deps, never);
    expect(await deps.transcripts.inspect(made.key)).toBeNull();
    expect(await made.row()).toMatchObject({ poster_prefix: null, status: "COMPLETED" });
    const late = { prefix: filePrefix(running.transcriptionId, 1), levels: null, now: clock.now() };
    expect(await finishPoster(deps.db, running, late)).toBe(false);
    expect(await running.row()).toMatchObject({ poster_prefix: null });
  });

  test("leaves no frame of a recording that retention deletes while it runs", async () => {
    const { environmentId } = await createTenant(subtext, { clock });
    const { deps, transcriptionId, key, row } = await waiting(
      await media("poster-portrait.webm"),
      environmentId,
    );
    await changeEnvironment(deps.db, environmentId, { retention: { days: 1, deletes: "recording" } });
    clock.advance(2 * DAY_MS);
    const put = async (...file: Parameters<typeof deps.transcripts.put>) => {
      await applyRetention(deps, never);
      await deps.transcripts.put(...file);
    };
    const transcripts: typeof deps.transcripts = Object.assign(Object.create(deps.transcripts), { put });
    const job = {
      id: (await row())!.poster_job_id!,
      subjectId: transcriptionId,
      retryCount: 0,
      signal: never,
    };
    await makePoster({ ...deps, transcripts }, job, never);
    expect(await row()).toMatchObject({ poster_prefix: null, status: "COMPLETED" });
    expect(await deps.transcripts.inspect(key)).toBeNull();
  });

  test("the sweeps keep a needed frame, remove an obsolete one, and have a missing one made again", async () => {
    const { transcriptionId, jobId, deps, row, run, key } = await waiting(
      await media("poster-portrait.webm"),
    );
    const { db, transcripts } = deps;
    await transcripts.put(key, Buffer.from("being written"));
    await sweepStoredFiles(deps, never);
    expect(await transcripts.inspect(key)).not.toBeNull();
    await run();
    await sweepStoredFiles(deps, never);
    expect(await transcripts.inspect(key)).not.toBeNull();

    // As if the transcript were complete.
    await sql`update transcription set file_formats = '["json"]' where id = ${transcriptionId}`.execute(db);
    await transcripts.remove(key);
    await checkAllFiles(deps, never);
    const { poster_job_id: next } = (await row())!;
    expect(next).not.toBe(jobId);
    expect(await countJobs(db, next!)).toBe(1);
    await run(0, never, next!);
    expect(await transcripts.inspect(key)).not.toBeNull();

    const none = db.updateTable("transcription").set({ poster_prefix: null });
    await none.where("id", "=", transcriptionId).execute();
    await sweepStoredFiles(deps, never);
    expect(await transcripts.inspect(key)).toBeNull();
  });

  test("that makes a missing poster again comes after those of new videos, also after a shutdown", async () => {
    const made = await waiting(await media("poster-portrait.webm"));
    const { transcriptionId, deps, row, run, key } = made;
    const { db, queue, transcripts } = deps;
    await run();
    await sql`update transcription set file_formats = '["json"]' where id = ${transcriptionId}`.execute(db);
    await transcripts.remove(key);
    await checkAllFiles(deps, never);
    const boss = new PgBoss({ ...subtext.service.parts.database.boss, supervise: false, schedule: false });
    await boss.start();
    /** Enqueues the poster of a new video, and claims one job after another. */
    const claimWithNew = async () => {
      const id = newJobId();
      await db
        .transaction()
        .execute((tx) => queue.send(tx, "poster", { id, subjectId: "transcription_new" }));
      const claimed: string[] = [];
      for (;;) {
        const [job] = await boss.fetch("poster");
        if (!job) return claimed;
        if (job.id === id) claimed.push("new");
        if (job.id === remade) claimed.push("remade");
      }
    };
    let remade = (await row())!.poster_job_id!;
    expect(await claimWithNew()).toEqual(["new", "remade"]);
    await run(0, AbortSignal.abort(new Error("stopping")), remade);
    remade = (await row())!.poster_job_id!;
    expect(await claimWithNew()).toEqual(["new", "remade"]);
    await boss.stop({ graceful: false, close: false });
  });

  test("is enqueued again if it is lost", async () => {
    const { deps, row } = await waiting(await media("mp3-beeps.mp3"));
    await sweepLostJobs(deps, never);
    expect(await countJobs(deps.db, (await row())!.poster_job_id!)).toBe(1);
  });
});
