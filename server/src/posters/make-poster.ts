import { json } from "node:stream/consumers";
import type { Decoder } from "@subtext/speech/media/media";
import type { Waveform } from "@subtext/speech/waveform";
import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { isOutage } from "../lib/outages.ts";
import type { ClaimedJob } from "../queue/job.ts";
import { assignNewJob, priorityOfJob } from "../queue/lost-job-queries.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { nullIfObjectMissing } from "../storage/object-errors.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { filePrefix, posterKey, waveformKey } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { findUnfinishedPoster, finishPoster, isRecordingDeleted, type UnfinishedPoster } from "./queries.ts";

export interface PosterDeps {
  db: Db;
  queue: Queue;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  /** Opens the decoder on first use. */
  posterDecoder: () => Promise<Pick<Decoder, "poster">>;
  clock: Clock;
  log: Logger;
}

/** Few, because a missing poster only affects lists. */
const MAX_TRIES = 2;
const OUTAGE_DELAY_MS = 60_000;
/** Several times what it takes to decode the first seconds of a recording with very large frames on a busy machine. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Makes the poster of a completed or skipped transcription: stores a frame of a video, or computes the levels of a recording
 * without video. After a crash, the next run starts over. After two failed tries, lists show a placeholder.
 */
export async function makePoster(deps: PosterDeps, job: ClaimedJob, shutdown: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const { subjectId: transcriptionId, id: jobId } = job;
  const unfinished = await findUnfinishedPoster(db, { transcriptionId, jobId });
  if (!unfinished) return;
  const signal = AbortSignal.any([shutdown, job.signal]);
  let poster: Poster = { prefix: null, levels: null };
  try {
    if (job.retryCount >= MAX_TRIES) throw new Error("each worker was lost while it created the poster");
    if (unfinished.hasRecording)
      poster = await createPoster(deps, { transcriptionId, ...unfinished }, signal);
  } catch (error) {
    if (job.signal.aborted) throw error;
    if (shutdown.aborted || isOutage(error)) {
      await postpone(deps, job, shutdown.aborted ? 0 : OUTAGE_DELAY_MS);
      return;
    }
    if (job.retryCount + 1 < MAX_TRIES) throw error;
    log.warn({ err: error, transcriptionId }, "could not make a poster; lists will show a placeholder");
  }
  const isFinished = await finishPoster(db, { transcriptionId, jobId }, { ...poster, now: clock.now() });
  // The recording may have been deleted while the poster was created.
  if (!isFinished && poster.prefix !== null && (await isRecordingDeleted(db, unfinished.videoId)))
    await deps.transcripts.remove(posterKey(poster.prefix));
}

interface Poster {
  prefix: string | null;
  levels: string | null;
}

async function createPoster(
  { recordings, transcripts, posterDecoder }: PosterDeps,
  unfinished: UnfinishedPoster & { transcriptionId: string },
  signal: AbortSignal,
): Promise<Poster> {
  const { transcriptionId, videoId, attempt, duration, waveformPrefix } = unfinished;
  const decoder = await posterDecoder();
  // A missing recording is not an error, because the sweep of missing files reports it.
  const source = await recordings.open(videoId, signal).catch(nullIfObjectMissing);
  if (source === null) return { prefix: null, levels: null };
  let found: Awaited<ReturnType<Decoder["poster"]>>;
  try {
    found = await decoder.poster(source.path, {
      durationSeconds: duration,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  } finally {
    await source.release();
  }
  if (found.frame !== null) {
    const prefix = filePrefix(transcriptionId, attempt);
    await transcripts.put(posterKey(prefix), found.frame);
    return { prefix, levels: null };
  }
  if (found.hasVideo || waveformPrefix === null) return { prefix: null, levels: null };
  const stored = await transcripts.read(waveformKey(waveformPrefix)).catch(nullIfObjectMissing);
  const levels = stored && posterLevels((await json(stored)) as Waveform);
  return { prefix: null, levels };
}

/** Replaces the job, because a shutdown or an outage does not count as a try. */
async function postpone({ db, queue }: PosterDeps, { id, subjectId }: ClaimedJob, delayMs: number) {
  const newId = newJobId();
  await db.transaction().execute(async (tx) => {
    if (!(await assignNewJob(tx, "poster", { id: subjectId, jobId: id }, newId))) return;
    const priority = await priorityOfJob(tx, "poster", id);
    await queue.send(tx, "poster", { id: newId, subjectId, delayMs, priority });
  });
}

const LEVELS = 40;

/**
 * Reduces a waveform to a few levels of equal duration, as hexadecimal digits. The loudest level is `f`, so that quiet
 * recordings have a visible shape too. Returns null for silence.
 */
function posterLevels({ peaks: base64 }: Pick<Waveform, "peaks">): string | null {
  const peaks = Buffer.from(base64, "base64");
  const count = Math.min(LEVELS, peaks.length);
  const means = Array.from({ length: count }, (_, index) => {
    const span = peaks.subarray(
      Math.floor((index * peaks.length) / count),
      Math.floor(((index + 1) * peaks.length) / count),
    );
    return span.reduce((sum, peak) => sum + peak, 0) / span.length;
  });
  const loudest = Math.max(...means);
  if (!(loudest > 0)) return null;
  return means.map((mean) => Math.round((15 * mean) / loudest).toString(16)).join("");
}
