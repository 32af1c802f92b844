import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { fileKey, TRANSCRIPTS_PREFIX } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findTranscription } from "../transcription/queries.ts";
import { videosWithRecording } from "../videos/queries.ts";
import {
  listStoredParts,
  type MissingFile,
  noteMissing,
  readFileCheck,
  type StoredParts,
  writeFileCheck,
} from "./missing-file-queries.ts";

export interface MissingSweepDeps extends ItemDeps {
  db: Db;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  clock: Clock;
}

const BATCH = 500;
/** Requests to a bucket at the same moment. */
const LOOKS_AT_ONCE = 16;
/** Videos that one sweep looks at: a bucket takes money for being asked, and the whole is seen within a day or so. */
const VIDEOS_AT_A_TIME = 10_000;

/** Goes on, from where the last sweep stopped, to look whether the files are there that rows name. */
export async function sweepMissing(deps: MissingSweepDeps, signal: AbortSignal): Promise<void> {
  await lookForFiles(deps, signal, { from: (await readFileCheck(deps.db))?.position ?? "" });
}

/** Looks at every file, from the first. @returns how many videos were looked at */
export async function checkAllFiles(deps: MissingSweepDeps, signal: AbortSignal): Promise<number> {
  return await lookForFiles(deps, signal, { from: "", most: Number.POSITIVE_INFINITY });
}

/**
 * Notes which files are missing, and tells the log. Rows stay as they are: what is missing may be on its way
 * back, on a disk that is not mounted or in a backup.
 */
async function lookForFiles(
  deps: MissingSweepDeps,
  signal: AbortSignal,
  { from, most = VIDEOS_AT_A_TIME }: { from: string; most?: number },
): Promise<number> {
  const { db, clock, log } = deps;
  let position = from;
  let looked = 0;
  while (looked < most) {
    const videos = await listStoredParts(db, { after: position, limit: BATCH });
    const missing: MissingFile[] = [];
    const lookedAt: string[] = [];
    for (let first = 0; first < videos.length; first += LOOKS_AT_ONCE) {
      if (signal.aborted) return looked;
      const some = videos.slice(first, first + LOOKS_AT_ONCE);
      const looks = some.map(async (video) => {
        const item = { task: "missing_files", videoId: video.videoId };
        const found = await guardItem(deps, item, () => findMissing(deps, video));
        if (found) lookedAt.push(video.videoId);
        return found ?? [];
      });
      missing.push(...(await Promise.all(looks)).flat());
    }
    const news = lookedAt.length > 0 ? await noteMissing(db, { lookedAt, missing, now: clock.now() }) : [];
    for (const file of news) log.warn(file, "a file that a row names is missing");
    looked += videos.length;
    const isLast = videos.length < BATCH;
    position = isLast ? "" : videos.at(-1)!.videoId;
    await writeFileCheck(db, position, isLast ? clock.now() : null);
    if (isLast) break;
  }
  return looked;
}

async function findMissing(
  { db, recordings, transcripts }: MissingSweepDeps,
  { videoId, recording, transcript }: StoredParts,
): Promise<MissingFile[]> {
  const missing: MissingFile[] = [];
  // What is not there is looked up once more: its row may have gone since it was read.
  if (recording && (await recordings.inspect(videoId)) === null) {
    if ((await videosWithRecording(db, [videoId])).has(videoId)) missing.push({ videoId, part: "recording" });
  }
  if (transcript) {
    const found = await Array.fromAsync(transcripts.list(`${TRANSCRIPTS_PREFIX}${transcript.id}/`));
    const isWhole = transcript.formats.every((format) => found.includes(fileKey(transcript.prefix, format)));
    if (!isWhole && (await findTranscription(db, transcript.id))) {
      missing.push({ videoId, part: "transcript" });
    }
  }
  return missing;
}
