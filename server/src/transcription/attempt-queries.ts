import type { AttemptOutcome } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionAttemptRow } from "../db/tables/transcriptions.ts";

/** Fencing token: the writes of an attempt have no effect after another attempt has started. */
export interface AttemptLease {
  transcriptionId: string;
  attempt: number;
}

export interface Failure {
  code: string;
  message: string;
}

export async function insertAttempt(
  tx: Tx,
  { transcriptionId, attempt }: AttemptLease,
  { queuedAt, startedAt }: { queuedAt: Date; startedAt: Date },
): Promise<void> {
  await tx
    .insertInto("transcription_attempt")
    .values({
      transcription_id: transcriptionId,
      number: attempt,
      queued_at: queuedAt,
      started_at: startedAt,
    })
    .execute();
}

export async function recordDecoded(
  db: Db,
  { transcriptionId, attempt }: AttemptLease,
  now: Date,
): Promise<void> {
  await db
    .updateTable("transcription_attempt")
    .set({ decoded_at: now })
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", attempt)
    .execute();
}

export interface AttemptEnd {
  outcome: AttemptOutcome;
  now: Date;
  transcribedAt?: Date | null;
  failure?: Failure | null;
  /** Earliest start of the next attempt, if there is one. */
  retryAt?: Date | null;
}

export async function endAttempt(
  tx: Tx,
  { transcriptionId, attempt }: AttemptLease,
  { outcome, now, transcribedAt = null, failure = null, retryAt = null }: AttemptEnd,
): Promise<void> {
  await tx
    .updateTable("transcription_attempt")
    .set({
      outcome,
      ended_at: now,
      transcribed_at: transcribedAt,
      failure_code: failure?.code ?? null,
      failure_message: failure?.message ?? null,
      retry_at: retryAt,
    })
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", attempt)
    .execute();
}

/** @param failureCode null for an outcome without a failure */
export async function hasEndedAs(
  tx: Tx,
  { transcriptionId, attempt }: AttemptLease,
  outcome: AttemptOutcome,
  failureCode: string | null,
): Promise<boolean> {
  const row = await tx
    .selectFrom("transcription_attempt")
    .select(["outcome", "failure_code"])
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", attempt)
    .executeTakeFirst();
  return row?.outcome === outcome && row.failure_code === failureCode;
}

export async function attemptStartedAt(
  db: Db,
  { transcriptionId, attempt }: AttemptLease,
): Promise<Date | null> {
  const row = await db
    .selectFrom("transcription_attempt")
    .select("started_at")
    .where("transcription_id", "=", transcriptionId)
    .where("number", "=", attempt)
    .executeTakeFirst();
  return row?.started_at ?? null;
}

/** Lists attempts in order, including those before a reprocessing. */
export async function listAttempts(db: Db, transcriptionId: string): Promise<TranscriptionAttemptRow[]> {
  return await db
    .selectFrom("transcription_attempt")
    .selectAll()
    .where("transcription_id", "=", transcriptionId)
    .orderBy("number")
    .execute();
}
