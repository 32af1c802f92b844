import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { LanguageStretch, StageSeconds } from "@subtext/speech/transcript";
import { sql } from "kysely";
import type { Db, TranscriptionRow, Tx } from "./schema.ts";

/** One worker's hold on a transcription: every write it makes is void once the attempt has moved on. */
export interface Hold {
  transcriptionId: string;
  attempt: number;
}

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
    })
    .execute();
}

export async function findTranscription(db: Db, id: string): Promise<TranscriptionRow | undefined> {
  return await db.selectFrom("transcription").selectAll().where("id", "=", id).executeTakeFirst();
}

/** By id; those that are not there are left out. */
export async function findTranscriptions(db: Db, ids: string[]): Promise<Map<string, TranscriptionRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("transcription").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findTranscriptionOfVideo(
  db: Db,
  videoId: string,
): Promise<TranscriptionRow | undefined> {
  return await db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).executeTakeFirst();
}

/** The latest of an environment, newest first. */
export async function listTranscriptions(
  db: Db,
  environmentId: string,
  { status, limit }: { status: TranscriptionStatus | null; limit: number },
): Promise<TranscriptionRow[]> {
  return await db
    .selectFrom("transcription")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .$if(status !== null, (query) => query.where("status", "=", status!))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/**
 * PENDING → PROCESSING for the job that the row names. A row that is PROCESSING already is one whose
 * worker died: its job came back, and the loss is counted.
 * @returns the row after the move, or undefined where this job has nothing to do (any more)
 */
export async function claimTranscription(
  db: Db,
  id: string,
  jobId: string,
  now: Date,
): Promise<TranscriptionRow | undefined> {
  return await db
    .updateTable("transcription")
    .set((set) => ({
      status: "PROCESSING",
      attempt: set("attempt", "+", 1),
      losses: sql<number>`losses + case when status = 'PROCESSING' then 1 else 0 end`,
      progress: 0,
      started_at: now,
    }))
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "in", ["PENDING", "PROCESSING"])
    .returningAll()
    .executeTakeFirst();
}

/** False where the hold is void. */
export async function reportProgress(
  db: Db,
  hold: Hold,
  report: { progress: number; remainingSeconds: number | null; duration: number | null },
): Promise<boolean> {
  const { progress, remainingSeconds, duration } = report;
  return await moved(held(db, hold).set({ progress, remaining_seconds: remainingSeconds, duration }));
}

export interface CompletedTranscription {
  language: string;
  wordCount: number;
  duration: number;
  filePrefix: string;
  engine: string;
  decoder: string;
  incomplete: boolean;
  stages: StageSeconds;
  stretches: LanguageStretch[];
  now: Date;
}

export async function completeTranscription(
  tx: Tx,
  hold: Hold,
  done: CompletedTranscription,
): Promise<boolean> {
  return await moved(
    held(tx, hold).set({
      status: "COMPLETED",
      language: done.language,
      word_count: done.wordCount,
      duration: done.duration,
      file_prefix: done.filePrefix,
      engine: done.engine,
      decoder: done.decoder,
      incomplete: done.incomplete,
      stages: JSON.stringify(done.stages),
      stretches: JSON.stringify(done.stretches),
      progress: 1,
      remaining_seconds: null,
      failure_code: null,
      failure_message: null,
      finished_at: done.now,
    }),
  );
}

export async function skipTranscription(
  tx: Tx,
  hold: Hold,
  skip: { reason: string; duration: number | null; now: Date },
): Promise<boolean> {
  return await moved(
    held(tx, hold).set({
      status: "SKIPPED",
      skip_reason: skip.reason,
      duration: skip.duration,
      progress: 1,
      remaining_seconds: null,
      failure_code: null,
      failure_message: null,
      finished_at: skip.now,
    }),
  );
}

export interface Failure {
  code: string;
  message: string;
}

/** @returns the row after the move, or undefined where the hold is void */
export async function failTranscription(
  tx: Tx,
  hold: Hold,
  failure: Failure,
  now: Date,
): Promise<TranscriptionRow | undefined> {
  return await held(tx, hold)
    .set({
      status: "FAILED",
      failure_code: failure.code,
      failure_message: failure.message,
      remaining_seconds: null,
      finished_at: now,
    })
    .returningAll()
    .executeTakeFirst();
}

/** PROCESSING → PENDING under a new job: `failure` where the attempt met a fault, null where it was handed back. */
export async function returnToPending(
  tx: Tx,
  hold: Hold,
  jobId: string,
  failure: Failure | null,
): Promise<boolean> {
  return await moved(
    held(tx, hold).set((set) => ({
      status: "PENDING",
      job_id: jobId,
      progress: 0,
      remaining_seconds: null,
      started_at: null,
      ...(failure && {
        faults: set("faults", "+", 1),
        failure_code: failure.code,
        failure_message: failure.message,
      }),
    })),
  );
}

/** FAILED → PENDING: same id, same `created_at`, and a fresh count of attempts. */
export async function reopenFailedTranscription(
  tx: Tx,
  id: string,
  jobId: string,
): Promise<TranscriptionRow | undefined> {
  return await tx
    .updateTable("transcription")
    .set({
      status: "PENDING",
      job_id: jobId,
      faults: 0,
      losses: 0,
      progress: 0,
      failure_code: null,
      failure_message: null,
      started_at: null,
      finished_at: null,
    })
    .where("id", "=", id)
    .where("status", "=", "FAILED")
    .returningAll()
    .executeTakeFirst();
}

function held(db: Db | Tx, hold: Hold) {
  return db
    .updateTable("transcription")
    .where("id", "=", hold.transcriptionId)
    .where("attempt", "=", hold.attempt)
    .where("status", "=", "PROCESSING");
}

async function moved(update: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint }> }): Promise<boolean> {
  const { numUpdatedRows } = await update.executeTakeFirst();
  return numUpdatedRows > 0n;
}
