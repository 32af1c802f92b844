import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import { recreatePoster } from "../posters/queries.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { fileKey, posterKey, TRANSCRIPTS_PREFIX } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findTranscription } from "../transcription/queries.ts";
import { videosWithRecording } from "../videos/queries.ts";
import {
  listStoredParts,
  type MissingFile,
  readFileCheck,
  recordMissingFiles,
  type StoredParts,
  writeFileCheck,
} from "./missing-file-queries.ts";

export interface MissingSweepDeps extends ItemDeps {
  db: Db;
  queue: Queue;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  clock: Clock;
}

const BATCH = 500;
const MAX_CONCURRENCY = 16;
/** Limited, because bucket requests cost money. */
const MAX_VIDEOS_PER_SWEEP = 10_000;
/** Below the default, because a sweep may enqueue thousands of posters, and those of new videos must not wait. */
const REMADE_POSTER_PRIORITY = -1;

/** Checks whether the files that rows reference exist. Continues where the last sweep stopped. */
export async function sweepMissingFiles(deps: MissingSweepDeps, signal: AbortSignal): Promise<void> {
  await checkFiles(deps, signal, { from: (await readFileCheck(deps.db))?.position ?? "" });
}

/** Checks the files of all videos. @returns the number of videos checked */
export async function checkAllFiles(deps: MissingSweepDeps, signal: AbortSignal): Promise<number> {
  return await checkFiles(deps, signal, { from: "", maxVideos: Number.POSITIVE_INFINITY });
}

/**
 * Records and logs missing files, and has missing posters made again. Leaves the other rows unchanged, because mounting
 * a disk or restoring a backup may bring the files back.
 * @throws AppError `storage_unavailable` if the transcripts are not mounted
 */
async function checkFiles(
  deps: MissingSweepDeps,
  signal: AbortSignal,
  { from, maxVideos = MAX_VIDEOS_PER_SWEEP }: { from: string; maxVideos?: number },
): Promise<number> {
  const { db, transcripts, clock, log } = deps;
  let position = from;
  let checkedCount = 0;
  while (checkedCount < maxVideos) {
    const videos = await listStoredParts(db, { after: position, limit: BATCH });
    const missing: MissingFile[] = [];
    const posters: MissingPoster[] = [];
    const checkedIds: string[] = [];
    for (let first = 0; first < videos.length; first += MAX_CONCURRENCY) {
      if (signal.aborted) return checkedCount;
      const batch = videos.slice(first, first + MAX_CONCURRENCY);
      const checks = batch.map(async (video) => {
        const item = { task: "missing_files", videoId: video.videoId };
        const found = await guardItem(deps, item, () => findMissing(deps, video));
        if (!found) return;
        checkedIds.push(video.videoId);
        missing.push(...found.files);
        if (found.poster) posters.push(found.poster);
      });
      await Promise.all(checks);
    }
    // An unmounted folder looks like an empty one.
    if (missing.length + posters.length > 0) await transcripts.check();
    // If the service started while the transcripts were not mounted, the check succeeds, but there are no files.
    if (posters.length > 0 && (await containsFiles(transcripts)))
      for (const poster of posters)
        await guardItem(deps, { task: "missing_files", ...poster }, () => makePosterAgain(deps, poster));
    const newlyMissing =
      checkedIds.length > 0 ? await recordMissingFiles(db, { checkedIds, missing, now: clock.now() }) : [];
    for (const file of newlyMissing) log.warn(file, "a file that a row references is missing");
    checkedCount += videos.length;
    const isLast = videos.length < BATCH;
    position = isLast ? "" : videos.at(-1)!.videoId;
    await writeFileCheck(db, position, isLast ? clock.now() : null);
    if (isLast) break;
  }
  return checkedCount;
}

interface MissingPoster {
  transcriptionId: string;
  prefix: string;
}

async function findMissing(
  { db, recordings, transcripts }: MissingSweepDeps,
  { videoId, recording, transcript }: StoredParts,
): Promise<{ files: MissingFile[]; poster?: MissingPoster }> {
  const files: MissingFile[] = [];
  const hasRecording = recording && (await recordings.inspect(videoId)) !== null;
  if (recording && !hasRecording) {
    // Reads the row again, because the video may have been deleted in the meantime.
    if ((await videosWithRecording(db, [videoId])).has(videoId)) files.push({ videoId, part: "recording" });
  }
  if (!transcript) return { files };
  const { id, versions, posterPrefix: prefix } = transcript;
  const found = await Array.fromAsync(transcripts.list(`${TRANSCRIPTS_PREFIX}${id}/`));
  const isComplete = versions.every((version) =>
    version.formats.every((format) => found.includes(fileKey(version.prefix, format))),
  );
  if (!isComplete) {
    if (await findTranscription(db, id)) files.push({ videoId, part: "transcript" });
    return { files };
  }
  // Not reported, because the poster is made again, from the recording.
  const isPosterMissing = hasRecording && prefix !== null && !found.includes(posterKey(prefix));
  return { files, ...(isPosterMissing && { poster: { transcriptionId: id, prefix } }) };
}

async function containsFiles(transcripts: TranscriptStore): Promise<boolean> {
  for await (const _found of transcripts.list(TRANSCRIPTS_PREFIX)) return true;
  return false;
}

async function makePosterAgain(
  { db, queue }: MissingSweepDeps,
  { transcriptionId, prefix }: MissingPoster,
): Promise<void> {
  const jobId = newJobId();
  await db.transaction().execute(async (tx) => {
    if (!(await recreatePoster(tx, { transcriptionId, jobId }, prefix))) return;
    await queue.send(tx, "poster", {
      id: jobId,
      subjectId: transcriptionId,
      priority: REMADE_POSTER_PRIORITY,
    });
  });
}
