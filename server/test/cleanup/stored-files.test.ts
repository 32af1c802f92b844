import { expect, test } from "vitest";
import { sweepStoredFiles } from "../../src/cleanup/sweep-stored-files.ts";
import { summarizeUnknownFiles } from "../../src/cleanup/unknown-file-queries.ts";
import { newId } from "../../src/lib/ids.ts";
import { fileKey, filePrefix, posterKey } from "../../src/storage/transcript-files.ts";
import { deleteVideoRows } from "../../src/videos/queries.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, MovableClock, startService, type TestService } from "../support/service.ts";
import { readRecording, writeRecording } from "../support/stored-recording.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function setUp() {
  const clock = new MovableClock();
  const started = await startService({ start: false, clock });
  const { parts } = started.service;
  const db = parts.database.kysely;
  const { environmentId } = await createTenant(started);
  const { recordings, transcripts, log, ownership } = parts;
  const sweep = () =>
    sweepStoredFiles({ db, recordings, transcripts, ownership, clock, log }, new AbortController().signal);
  return { started, db, transcripts, recordings, ownership, clock, log, environmentId, sweep };
}

async function completedVideo({ service }: TestService, environmentId: string) {
  const seeded = await seedTranscript(service, { environmentId, language: "en", text: "some words" });
  await writeRecording(service, seeded.videoId, "recording");
  return seeded;
}

test("files of a deleted video are removed at once, and those of the others are kept", async () => {
  const { started, db, transcripts, environmentId, sweep } = await setUp();
  const other = await completedVideo(started, environmentId);
  const deleted = await completedVideo(started, environmentId);
  await db.transaction().execute((tx) => deleteVideoRows(tx, environmentId, deleted.videoId));
  await sweep();
  expect(await readRecording(started.service, deleted.videoId)).toBeNull();
  expect(await readRecording(started.service, other.videoId)).not.toBeNull();
  expect(await Array.fromAsync(transcripts.list("transcripts/"))).toEqual([
    fileKey(filePrefix(other.transcriptionId, 1), "json"),
  ]);
  expect(await summarizeUnknownFiles(db)).toMatchObject({ files: 0, bytes: 0 });
});

test("files of a lost attempt are removed at once, and those of an attempt unknown to the database are kept", async () => {
  const { started, db, transcripts, environmentId, sweep } = await setUp();
  const { transcriptionId } = await completedVideo(started, environmentId);
  await db.updateTable("transcription").set({ attempt: 2 }).where("id", "=", transcriptionId).execute();
  await db
    .updateTable("transcription")
    .set({ file_prefix: filePrefix(transcriptionId, 2) })
    .where("id", "=", transcriptionId)
    .execute();
  const [lost, named, later] = [1, 2, 3].map((attempt) =>
    fileKey(filePrefix(transcriptionId, attempt), "json"),
  );
  const laterPoster = posterKey(filePrefix(transcriptionId, 3));
  for (const key of [named!, laterPoster, later!]) await transcripts.put(key, Buffer.from("[]"));
  await sweep();
  const left = (await Array.fromAsync(transcripts.list("transcripts/"))).sort();
  expect(left).toEqual([named, laterPoster, later]);
  expect(left).not.toContain(lost);
  const { examples } = await summarizeUnknownFiles(db);
  expect(examples).toEqual([`files/${laterPoster}`, `files/${later}`]);
});

test("an unknown file is reported with its size and kept for 7 days", async () => {
  const { started, db, transcripts, clock, sweep } = await setUp();
  const videoId = newId("video");
  const key = fileKey(filePrefix(newId("transcription"), 1), "vtt");
  await writeRecording(started.service, videoId, "a recording");
  await transcripts.put(key, Buffer.from("WEBVTT"));
  for (let days = 0; days < 7; days += 1) {
    await sweep();
    expect(await summarizeUnknownFiles(db)).toMatchObject({ files: 2, bytes: 17 });
    clock.advance(DAY_MS);
  }
  expect(await readRecording(started.service, videoId)).not.toBeNull();
  clock.advance(HOUR_MS);
  await sweep();
  expect(await readRecording(started.service, videoId)).toBeNull();
  expect(await transcripts.inspect(key)).toBeNull();
  expect(await summarizeUnknownFiles(db)).toMatchObject({ files: 0, oldestSeenAt: null });
  expect(started.logged()).toContain("are kept for 7 days");
});

test("a transcript file whose name belongs to no transcription is kept as unknown", async () => {
  const { db, transcripts, sweep } = await setUp();
  const key = "transcripts/notes.txt";
  await transcripts.put(key, Buffer.from("of an operator"));
  await sweep();
  expect(await transcripts.inspect(key)).not.toBeNull();
  expect((await summarizeUnknownFiles(db)).examples).toEqual([`files/${key}`]);
});

test("the 7 days start over if the file was missing, known, or not checked for days", async () => {
  const { started, db, recordings, clock, environmentId, sweep } = await setUp();
  const videoId = newId("video");
  const firstSeen = async () => (await summarizeUnknownFiles(db)).oldestSeenAt?.getTime() ?? null;
  await writeRecording(started.service, videoId, "x");
  await sweep();
  const first = await firstSeen();
  expect(first).not.toBeNull();

  await recordings.remove(videoId);
  await sweep();
  expect(await firstSeen()).toBeNull();

  await writeRecording(started.service, videoId, "x");
  clock.advance(DAY_MS);
  await sweep();
  const { kysely } = started.service.parts.database;
  const row = { id: videoId, environment_id: environmentId, metadata: "{}", created_at: clock.now() };
  await kysely.insertInto("video").values(row).execute();
  await sweep();
  expect(await firstSeen()).toBeNull();

  const other = newId("video");
  await writeRecording(started.service, other, "x");
  await sweep();
  // The clock was wrong at the start, or the machine was off.
  clock.advance(30 * DAY_MS);
  await sweep();
  expect(await readRecording(started.service, other)).not.toBeNull();
  expect(await firstSeen()).toBeGreaterThan(first! + 29 * DAY_MS);
});

test("a file that cannot be removed does not block others, and its tombstone is kept", async () => {
  const { started, db, recordings, transcripts, ownership, clock, log, environmentId } = await setUp();
  const videos = [await completedVideo(started, environmentId), await completedVideo(started, environmentId)];
  for (const { videoId } of videos)
    await db.transaction().execute((tx) => deleteVideoRows(tx, environmentId, videoId));
  const stuck = videos[0]!.videoId;
  const partly = {
    ...recordings,
    async remove(id: string) {
      if (id === stuck) throw new Error("permission denied");
      await recordings.remove(id);
    },
  };
  clock.advance(31 * DAY_MS);
  const signal = new AbortController().signal;
  await sweepStoredFiles({ db, recordings: partly, transcripts, ownership, clock, log }, signal);
  expect(await readRecording(started.service, videos[1]!.videoId)).toBeNull();
  const tombstones = () => db.selectFrom("tombstone").select("id").execute();
  expect(await tombstones()).toHaveLength(4);

  await sweepStoredFiles({ db, recordings, transcripts, ownership, clock, log }, signal);
  expect(await readRecording(started.service, stuck)).toBeNull();
  expect(await tombstones()).toEqual([]);
});

test("a deletion that does not commit leaves no tombstone", async () => {
  const { started, db, environmentId, sweep } = await setUp();
  const { videoId } = await completedVideo(started, environmentId);
  const rolledBack = db.transaction().execute(async (tx) => {
    await deleteVideoRows(tx, environmentId, videoId);
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  await sweep();
  expect(await readRecording(started.service, videoId)).not.toBeNull();
});
