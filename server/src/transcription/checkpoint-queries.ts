import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { AttemptLease } from "./attempt-queries.ts";

/**
 * Stores a checkpoint until the transcription is COMPLETED or SKIPPED, so that a retry of a failed one continues from it.
 * One that is beyond all earlier checkpoints resets the failure and crash counts, so a long recording is retried as long
 * as it progresses.
 * @param number position among the attempt's checkpoints
 * @returns the failure count; null if the lease is lost
 */
export async function saveCheckpoint(
  db: Db,
  { transcriptionId, attempt }: AttemptLease,
  number: number,
  { settledSeconds, results }: Checkpoint,
): Promise<number | null> {
  // Locks the transcription, because its end deletes all checkpoints.
  const { rows } = await sql<{ failure_count: number }>`
    with held as (
      select id, attempt, failure_count from transcription
      where id = ${transcriptionId} and attempt = ${attempt} and status = 'PROCESSING'
      for no key update
    ), kept as (
      insert into transcription_checkpoint (transcription_id, attempt, number, settled_seconds, results)
      select id, attempt, ${number}::int, ${settledSeconds}::double precision, ${results} from held
    ), advanced as (
      update transcription set failure_count = 0, crash_count = 0 from held
      where transcription.id = held.id and not exists (
        select from transcription_checkpoint
        where transcription_id = ${transcriptionId} and settled_seconds >= ${settledSeconds}::double precision
      )
      returning transcription.failure_count
    )
    select coalesce((select failure_count from advanced), failure_count) as failure_count from held`.execute(
    db,
  );
  return rows[0]?.failure_count ?? null;
}

/** Reads the checkpoints of all attempts in no particular order. */
export async function readCheckpoints(db: Db, transcriptionId: string): Promise<Checkpoint[]> {
  return await db
    .selectFrom("transcription_checkpoint")
    .select(["settled_seconds as settledSeconds", "results"])
    .where("transcription_id", "=", transcriptionId)
    .execute();
}

export async function removeCheckpoints(tx: Tx, transcriptionId: string): Promise<void> {
  await tx.deleteFrom("transcription_checkpoint").where("transcription_id", "=", transcriptionId).execute();
}
