import type { Db, TranscriptionRow, Tx } from "./schema.ts";
import { endAttempt, insertAttempt } from "./transcription-attempts.ts";

/**
 * The transcription that names the job and is PENDING or PROCESSING, locked until the transaction ends.
 * @returns undefined where none does: the job was replaced, or what it was for has ended
 */
export async function lockTranscriptionOfJob(tx: Tx, jobId: string): Promise<TranscriptionRow | undefined> {
  for (;;) {
    const row = await ofJob(tx, jobId).selectAll().forUpdate().executeTakeFirst();
    if (row) return row;
    // One that passed its job to another row while its lock was waited for is not found above, nor is the other.
    if (!(await isNamed(tx, jobId))) return undefined;
  }
}

/** Whether a transcription that is PENDING or PROCESSING names the job. */
export async function isNamed(db: Db | Tx, jobId: string): Promise<boolean> {
  return (await ofJob(db, jobId).select("id").executeTakeFirst()) !== undefined;
}

function ofJob(db: Db | Tx, jobId: string) {
  return db
    .selectFrom("transcription")
    .where("job_id", "=", jobId)
    .where("status", "in", ["PENDING", "PROCESSING"]);
}

/**
 * PENDING → PROCESSING with a new attempt, of the row that was chosen under the job that another may have named:
 * the two change jobs. Both are locked.
 */
export async function startAttempt(
  tx: Tx,
  {
    chosen,
    named,
    jobId,
    now,
  }: { chosen: TranscriptionRow; named: TranscriptionRow; jobId: string; now: Date },
): Promise<TranscriptionRow> {
  if (chosen.id !== named.id) {
    await tx
      .updateTable("transcription")
      .set({ job_id: chosen.job_id, parked_at: null })
      .where("id", "=", named.id)
      .execute();
  }
  return await begin(tx, chosen, { jobId, queuedAt: chosen.queued_at ?? chosen.created_at, now });
}

/** The next attempt at a row that is PROCESSING, locked, and whose worker died. */
export async function takeOverAttempt(tx: Tx, row: TranscriptionRow, now: Date): Promise<TranscriptionRow> {
  await endAttempt(tx, { transcriptionId: row.id, attempt: row.attempt }, { outcome: "lost", now });
  return await begin(tx, row, { jobId: row.job_id, queuedAt: now, now });
}

async function begin(
  tx: Tx,
  { id, status }: TranscriptionRow,
  { jobId, queuedAt, now }: { jobId: string; queuedAt: Date; now: Date },
): Promise<TranscriptionRow> {
  const row = await tx
    .updateTable("transcription")
    .set((set) => ({
      status: "PROCESSING",
      job_id: jobId,
      parked_at: null,
      attempt: set("attempt", "+", 1),
      losses: set("losses", "+", status === "PROCESSING" ? 1 : 0),
      progress: 0,
      started_at: now,
    }))
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await insertAttempt(tx, { transcriptionId: id, attempt: row.attempt }, { queuedAt, startedAt: now });
  return row;
}
