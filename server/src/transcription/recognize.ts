import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeProgress, TranscribeResult } from "@subtext/speech/transcript";
import type { Waveform } from "@subtext/speech/waveform";
import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import { findVocabulary } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { isOutage, logLevelOf } from "../lib/outages.ts";
import { type JobTag, MIN_SLICE_SECONDS, startSlice, UNITS_PER_SECOND } from "../queue/fair-queueing.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { type AttemptLease, recordDecoded } from "./attempt-queries.ts";
import { readCheckpoints, saveCheckpoint } from "./checkpoint-queries.ts";
import { reportProgress } from "./queries.ts";

export interface RecognizeDeps {
  db: Db;
  speech: Speech;
  recordings: RecordingStore;
  clock: Clock;
  maxDurationSeconds: number;
  maxConcurrentPerEnvironment: number | null;
  /** `MIN_SLICE_SECONDS` by default. Benchmarks on a smaller scale pass less. */
  minSliceSeconds?: number;
}

export interface RecognitionAttempt {
  row: TranscriptionRow;
  /** Fair-queueing tag of the job. `recognize` updates it for each slice of work. */
  tag: JobTag | null;
  /** Whether the attempt continues from earlier checkpoints. `recognize` sets it. */
  resumes: boolean;
  /** Whether the attempt stored a checkpoint of its own. `recognize` sets it. */
  advances: boolean;
  lease: AttemptLease;
  log: Logger;
  signal: AbortSignal;
  /** `recognize` aborts it when the attempt has lost its lease. */
  replaced: AbortController;
  /** `recognize` aborts it when the attempt must yield to other jobs. */
  yields: AbortController;
  /** Whether the database was unavailable, so that another worker may have taken over. */
  hadOutage: boolean;
  failureCount: number;
  waveform: Waveform | null;
  /** When the recording was downloaded, and when it was decoded. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
}

/**
 * A recording yields after this many times the cost of resuming it, so it loses at most a seventh of its throughput.
 */
const RESUME_COSTS_PER_SLICE = 6;

export async function recognize(deps: RecognizeDeps, attempt: RecognitionAttempt): Promise<TranscribeResult> {
  const { row, lease, log, signal, replaced } = attempt;
  const checkpoints = await readCheckpoints(deps.db, row.id);
  attempt.resumes = checkpoints.length > 0;
  if (attempt.resumes)
    log.info({ checkpoints: checkpoints.length }, "transcription resumes from its checkpoints");
  const vocabulary = await findVocabulary(deps.db, row.environment_id);
  const source = await deps.recordings.open(row.video_id, signal);
  attempt.fetchedAt = deps.clock.now();
  const work = new WorkProgress();
  const sliceTimer = new SliceTimer(row.started_at ?? attempt.fetchedAt, deps);
  const save = checkpointSaver(deps, attempt, sliceTimer);
  const saves: Promise<void>[] = [];
  try {
    return await deps.speech.transcribe(source.path, {
      maxDurationSeconds: deps.maxDurationSeconds,
      vocabulary,
      signal,
      checkpoints,
      onCheckpoint: (checkpoint) => saves.push(save(checkpoint)),
      onProgress: (report) => {
        const { done, duration, remainingSeconds } = report;
        sliceTimer.record(done, remainingSeconds);
        const progress = work.after(report, performance.now());
        reportProgress(deps.db, lease, { progress, remainingSeconds, duration })
          .then((hasLease) => hasLease || replaced.abort())
          .catch((error) => {
            attempt.hadOutage ||= isOutage(error);
            log[logLevelOf(error, "warn")]({ err: error }, "could not store the progress");
          });
      },
      onWaveform: (waveform) => {
        attempt.waveform = waveform;
        if (!waveform.whole) return;
        attempt.decodedAt = deps.clock.now();
        recordDecoded(deps.db, lease, attempt.decodedAt).catch((error) =>
          log[logLevelOf(error, "warn")]({ err: error }, "could not record the end of decoding"),
        );
      },
    });
  } finally {
    // A saved checkpoint resets the failure count, which decides whether a failure is retried.
    await Promise.all(saves);
    await source.release();
  }
}

/** Measures an attempt's slices of work; see `startSlice`. */
class SliceTimer {
  readonly #clock: Clock;
  readonly #startedAt: Date;
  readonly #minSliceSeconds: number;
  /** Seconds of the recording that earlier attempts have transcribed. */
  #doneBefore: number | null = null;
  /**
   * When the current slice started. The first slice starts when this attempt has reached the position of the earlier
   * ones.
   */
  #sliceStartedAt: Date;
  #resumeSeconds = 0;
  #remainingSeconds: number | null = null;

  constructor(startedAt: Date, { clock, minSliceSeconds = MIN_SLICE_SECONDS }: RecognizeDeps) {
    this.#startedAt = startedAt;
    this.#sliceStartedAt = startedAt;
    this.#clock = clock;
    this.#minSliceSeconds = minSliceSeconds;
  }

  record(done: number, remainingSeconds: number | null): void {
    this.#remainingSeconds = remainingSeconds;
    this.#doneBefore ??= done;
    if (done > this.#doneBefore) return;
    this.#sliceStartedAt = this.#clock.now();
    this.#resumeSeconds = (this.#sliceStartedAt.getTime() - this.#startedAt.getTime()) / 1000;
  }

  /**
   * Ends the current slice if it is used up, and starts the next one.
   * @returns the ended slice; null if the current one continues
   */
  endSlice(at: Date): { usedSeconds: number; sliceSeconds: number; remainingSeconds: number } | null {
    const sliceSeconds = Math.max(this.#minSliceSeconds, RESUME_COSTS_PER_SLICE * this.#resumeSeconds);
    const usedSeconds = (at.getTime() - this.#sliceStartedAt.getTime()) / 1000;
    if (usedSeconds < sliceSeconds) return null;
    this.#sliceStartedAt = at;
    return { usedSeconds, sliceSeconds, remainingSeconds: this.#remainingSeconds ?? sliceSeconds };
  }
}

function checkpointSaver(
  { db, clock, maxConcurrentPerEnvironment: cap }: RecognizeDeps,
  attempt: RecognitionAttempt,
  sliceTimer: SliceTimer,
): (checkpoint: Checkpoint) => Promise<void> {
  const { row, lease, log, replaced, yields } = attempt;
  let number = 0;
  const save = async (checkpoint: Checkpoint) => {
    number += 1;
    // Read before the first `await`, so that the time to store the checkpoint does not count as work.
    const arrivedAt = clock.now();
    const failureCount = await saveCheckpoint(db, lease, number, checkpoint);
    if (failureCount === null) return replaced.abort();
    attempt.advances = true;
    attempt.failureCount = failureCount;
    const used = sliceTimer.endSlice(arrivedAt);
    if (!used) return;
    const slice = await db.transaction().execute((tx) =>
      startSlice(tx, {
        environmentId: row.environment_id,
        chargedSeconds: attempt.tag ? attempt.tag.charge / UNITS_PER_SECOND : 0,
        cap,
        ...used,
      }),
    );
    attempt.tag = slice.tag;
    if (slice.yields) yields.abort(new Error("other jobs are waiting"));
  };
  // A failure is only logged: without this checkpoint, the next attempt repeats more work.
  return (checkpoint) =>
    save(checkpoint).catch((error) =>
      log[logLevelOf(error, "warn")]({ err: error }, "could not store a checkpoint"),
    );
}

/**
 * Computes the progress of a transcription from the estimated remaining time: 0.5 after half of the estimated total
 * time. It never decreases.
 */
export class WorkProgress {
  #start: { atMs: number; share: number } | null = null;
  #share = 0;

  /**
   * @param nowMs from a monotonic clock
   * @returns 0 to 1; while the remaining time is unknown, the share of earlier attempts
   */
  after({ done, duration, remainingSeconds }: TranscribeProgress, nowMs: number): number {
    if (this.#start === null) {
      this.#share = duration ? Math.min(done / duration, 1) : 0;
      this.#start = { atMs: nowMs, share: this.#share };
    }
    if (remainingSeconds !== null) {
      const { atMs, share } = this.#start;
      const workedSeconds = (nowMs - atMs) / 1000;
      const ownShare = remainingSeconds === 0 ? 1 : workedSeconds / (workedSeconds + remainingSeconds);
      this.#share = Math.max(this.#share, share + (1 - share) * ownShare);
    }
    return this.#share;
  }
}
