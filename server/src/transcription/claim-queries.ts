import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import { endAttempt, insertAttempt } from "./attempt-queries.ts";

/**
 * Finds the PENDING or PROCESSING transcription of a job and locks it until the transaction ends.
 * @returns undefined if the job was replaced or its transcription has ended
 */
export async function lockTranscriptionByJob(tx: Tx, jobId: string): Promise<TranscriptionRow | undefined> {
  return await transcriptionByJob(tx, jobId).selectAll().forUpdate().executeTakeFirst();
}

/** Checks whether the job belongs to a PENDING or PROCESSING transcription. */
export async function isCurrentJob(db: Db | Tx, jobId: string): Promise<boolean> {
  return (await transcriptionByJob(db, jobId).select("id").executeTakeFirst()) !== undefined;
}

function transcriptionByJob(db: Db | Tx, jobId: string) {
  return db
    .selectFrom("transcription")
    .where("job_id", "=", jobId)
    .where("status", "in", ["PENDING", "PROCESSING"]);
}

/**
 * PENDING → PROCESSING with a new attempt.
 * @param row locked
 */
export async function startAttempt(tx: Tx, row: TranscriptionRow, now: Date): Promise<TranscriptionRow> {
  return await beginAttempt(tx, row, { queuedAt: row.queued_at, now });
}

/**
 * Starts the next attempt after a worker crash.
 * @param row locked and PROCESSING
 */
export async function takeOverAttempt(tx: Tx, row: TranscriptionRow, now: Date): Promise<TranscriptionRow> {
  await endAttempt(tx, { transcriptionId: row.id, attempt: row.attempt }, { outcome: "lost", now });
  return await beginAttempt(tx, row, { queuedAt: now, now });
}

async function beginAttempt(
  tx: Tx,
  { id, status }: TranscriptionRow,
  { queuedAt, now }: { queuedAt: Date; now: Date },
): Promise<TranscriptionRow> {
  const row = await tx
    .updateTable("transcription")
    .set((set) => ({
      status: "PROCESSING",
      attempt: set("attempt", "+", 1),
      crash_count: set("crash_count", "+", status === "PROCESSING" ? 1 : 0),
      progress: 0,
      started_at: now,
    }))
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await insertAttempt(tx, { transcriptionId: id, attempt: row.attempt }, { queuedAt, startedAt: now });
  return row;
}

export async function assignJob(tx: Tx, id: string, jobId: string): Promise<void> {
  await tx.updateTable("transcription").set({ job_id: jobId }).where("id", "=", id).execute();
}
