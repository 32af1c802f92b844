import { FILE_FORMATS, type TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { LanguageSegment, StageSeconds } from "@subtext/speech/transcript";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import { type AttemptLease, endAttempt, type Failure } from "./attempt-queries.ts";

export async function insertPendingTranscription(
  tx: Tx,
  row: { id: string; videoId: string; environmentId: string; jobId: string; now: Date },
): Promise<void> {
  await tx
    .insertInto("transcription")
    .values({
      id: row.id,
      video_id: row.videoId,
      environment_id: row.environmentId,
      status: "PENDING",
      job_id: row.jobId,
      stages: "null",
      created_at: row.now,
      queued_at: row.now,
    })
    .execute();
}

export async function findTranscription(db: Db, id: string): Promise<TranscriptionRow | undefined> {
  return await db.selectFrom("transcription").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Returns transcriptions keyed by id, without entries for missing ones. */
export async function findTranscriptions(db: Db, ids: string[]): Promise<Map<string, TranscriptionRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("transcription").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findTranscriptionByVideo(
  db: Db,
  videoId: string,
): Promise<TranscriptionRow | undefined> {
  return await db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).executeTakeFirst();
}

/** Lists an environment's transcriptions, newest video first. */
export async function listTranscriptions(
  db: Db,
  environmentId: string,
  { status, limit }: { status: TranscriptionStatus | null; limit: number },
): Promise<TranscriptionRow[]> {
  if (status !== null) {
    return await db
      .selectFrom("transcription")
      .selectAll()
      .where("environment_id", "=", environmentId)
      .where("status", "=", status)
      .orderBy("video_id", "desc")
      .limit(limit)
      .execute();
  }
  return await db
    .selectFrom("video")
    .innerJoin("transcription", "transcription.video_id", "video.id")
    .selectAll("transcription")
    .where("video.environment_id", "=", environmentId)
    .orderBy("video.id", "desc")
    .limit(limit)
    .execute();
}

/** Returns false if the lease is lost. */
export async function reportProgress(
  db: Db,
  lease: AttemptLease,
  report: { progress: number; remainingSeconds: number | null; duration: number | null },
): Promise<boolean> {
  const { progress, remainingSeconds, duration } = report;
  return await changesRow(leased(db, lease).set({ progress, remaining_seconds: remainingSeconds, duration }));
}

export interface CompletedTranscription {
  language: string;
  wordCount: number;
  duration: number;
  filePrefix: string;
  engine: string;
  decoder: string;
  audioTrack: number | null;
  incomplete: boolean;
  stages: StageSeconds;
  languageSegments: LanguageSegment[];
  transcribedAt: Date;
  /** Null if no waveform was stored. */
  waveformPrefix: string | null;
  posterJobId: string;
  now: Date;
}

export async function completeTranscription(
  tx: Tx,
  lease: AttemptLease,
  done: CompletedTranscription,
): Promise<boolean> {
  const { now, transcribedAt } = done;
  const ended = await changesRow(
    leased(tx, lease).set({
      status: "COMPLETED",
      language: done.language,
      word_count: done.wordCount,
      duration: done.duration,
      file_prefix: done.filePrefix,
      file_formats: JSON.stringify(FILE_FORMATS),
      engine: done.engine,
      decoder: done.decoder,
      audio_track: done.audioTrack,
      incomplete: done.incomplete,
      stages: JSON.stringify(done.stages),
      language_segments: JSON.stringify(done.languageSegments),
      progress: 1,
      remaining_seconds: null,
      failure_code: null,
      failure_message: null,
      waveform_prefix: done.waveformPrefix,
      poster_job_id: done.posterJobId,
      finished_at: now,
    }),
  );
  if (ended) await endAttempt(tx, lease, { outcome: "completed", now, transcribedAt });
  return ended;
}

export async function skipTranscription(
  tx: Tx,
  lease: AttemptLease,
  skip: {
    reason: string;
    duration: number | null;
    waveformPrefix: string | null;
    posterJobId: string;
    now: Date;
  },
): Promise<boolean> {
  const { now } = skip;
  const ended = await changesRow(
    leased(tx, lease).set({
      status: "SKIPPED",
      skip_reason: skip.reason,
      duration: skip.duration,
      progress: 1,
      remaining_seconds: null,
      failure_code: null,
      failure_message: null,
      waveform_prefix: skip.waveformPrefix,
      poster_job_id: skip.posterJobId,
      finished_at: now,
    }),
  );
  if (ended) await endAttempt(tx, lease, { outcome: "skipped", now });
  return ended;
}

/** @returns the updated row; undefined if the lease is lost */
export async function failTranscription(
  tx: Tx,
  lease: AttemptLease,
  failure: Failure,
  {
    waveformPrefix,
    transcribedAt,
    now,
  }: { waveformPrefix: string | null; transcribedAt: Date | null; now: Date },
): Promise<TranscriptionRow | undefined> {
  const row = await leased(tx, lease)
    .set({
      status: "FAILED",
      failure_code: failure.code,
      failure_message: failure.message,
      remaining_seconds: null,
      waveform_prefix: waveformPrefix,
      finished_at: now,
    })
    .returningAll()
    .executeTakeFirst();
  if (row) await endAttempt(tx, lease, { outcome: "failed", failure, transcribedAt, now });
  return row;
}

export interface Return {
  jobId: string;
  /** Null if the attempt was handed back without a failure. */
  failure: Failure | null;
  /** Whether it counts toward the retry limit. */
  counts: boolean;
  /** Whether the failure is shown while the transcription is PENDING. Defaults to `counts`. */
  isShown?: boolean;
  /** Delay of the next attempt; null for no delay. */
  retryAfterMs: number | null;
  yields?: boolean;
  now: Date;
}

/** PROCESSING → PENDING under a new job. */
export async function returnToPending(
  tx: Tx,
  lease: AttemptLease,
  { jobId, failure, counts, isShown = counts, retryAfterMs, yields = false, now }: Return,
): Promise<boolean> {
  const ended = await changesRow(
    leased(tx, lease).set((set) => ({
      status: "PENDING",
      job_id: jobId,
      progress: 0,
      remaining_seconds: null,
      queued_at: now,
      started_at: null,
      ...(retryAfterMs !== null && { due_at: sql<Date>`now() + ${retryAfterMs} * interval '1 millisecond'` }),
      ...(counts && { failure_count: set("failure_count", "+", 1) }),
      ...(failure && isShown && { failure_code: failure.code, failure_message: failure.message }),
    })),
  );
  const outcome = failure !== null ? "returned" : yields ? "yielded" : "handed_back";
  const retryAt = retryAfterMs === null ? null : new Date(now.getTime() + retryAfterMs);
  if (ended) await endAttempt(tx, lease, { outcome, failure, retryAt, now });
  return ended;
}

/**
 * Finds a PENDING or PROCESSING transcription and locks it until the transaction ends.
 * @returns undefined if it has ended
 */
export async function lockUnfinished(tx: Tx, id: string): Promise<TranscriptionRow | undefined> {
  return await tx
    .selectFrom("transcription")
    .selectAll()
    .where("id", "=", id)
    .where("status", "in", ["PENDING", "PROCESSING"])
    .forUpdate()
    .executeTakeFirst();
}

/**
 * PENDING or PROCESSING → FAILED, together with a running attempt.
 * @param row locked and unfinished
 */
export async function failCanceled(
  tx: Tx,
  row: TranscriptionRow,
  failure: Failure,
  now: Date,
): Promise<TranscriptionRow> {
  if (row.status === "PROCESSING") {
    const lease = { transcriptionId: row.id, attempt: row.attempt };
    await endAttempt(tx, lease, { outcome: "failed", failure, now });
  }
  return await tx
    .updateTable("transcription")
    .set({
      status: "FAILED",
      failure_code: failure.code,
      failure_message: failure.message,
      remaining_seconds: null,
      finished_at: now,
    })
    .where("id", "=", row.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Reverts the count of a crash for an attempt whose worker was alive but could not reach the database. Does nothing if
 * no crash was counted, or if its count was reverted before.
 */
export async function revertCrash(
  tx: Tx,
  { transcriptionId, attempt }: AttemptLease,
  { code, message }: Failure,
): Promise<void> {
  // Lock order: the transcription, then its attempts.
  await tx.selectFrom("transcription").select("id").where("id", "=", transcriptionId).forUpdate().execute();
  const { numUpdatedRows } = await tx
    .updateTable("transcription_attempt")
    .set({ outcome: "returned", failure_code: code, failure_message: message })
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", attempt)
    .where("outcome", "=", "lost")
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await tx
    .updateTable("transcription")
    .set((set) => ({ crash_count: set("crash_count", "-", 1) }))
    .where("id", "=", transcriptionId)
    .where("crash_count", ">", 0)
    .execute();
}

/** FAILED → PENDING. Keeps the id, `created_at` and the attempts; resets the failure and crash counts. */
export async function reopenFailedTranscription(
  tx: Tx,
  id: string,
  jobId: string,
  now: Date,
): Promise<TranscriptionRow | undefined> {
  return await tx
    .updateTable("transcription")
    .set({
      status: "PENDING",
      job_id: jobId,
      failure_count: 0,
      crash_count: 0,
      progress: 0,
      failure_code: null,
      failure_message: null,
      queued_at: now,
      due_at: null,
      started_at: null,
      finished_at: null,
    })
    .where("id", "=", id)
    .where("status", "=", "FAILED")
    .returningAll()
    .executeTakeFirst();
}

function leased(db: Db | Tx, lease: AttemptLease) {
  return db
    .updateTable("transcription")
    .where("id", "=", lease.transcriptionId)
    .where("attempt", "=", lease.attempt)
    .where("status", "=", "PROCESSING");
}

async function changesRow(update: {
  executeTakeFirst(): Promise<{ numUpdatedRows: bigint }>;
}): Promise<boolean> {
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Locks a video, so that retention cannot delete its recording until the transaction ends.
 * @returns when retention deleted the recording; null if it exists; undefined if the video does not exist
 */
export async function lockRecording(tx: Tx, videoId: string): Promise<Date | null | undefined> {
  const video = await tx
    .selectFrom("video")
    .select("recording_deleted_at")
    .where("id", "=", videoId)
    .forUpdate()
    .executeTakeFirst();
  return video?.recording_deleted_at;
}
