import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { AttemptLease } from "./attempt-queries.ts";

/**
 * Stores an attempt's next checkpoint until the transcription ends. Failures and crashes count only since the furthest
 * checkpoint: a recording of hours may have more of them than a short one, as long as it progresses.
 * @param number its position among the attempt's checkpoints
 * @returns the number of failures that count from now on; null if the lease is lost
 */
export async function saveCheckpoint(
  db: Db,
  { transcriptionId, attempt }: AttemptLease,
  number: number,
  { settledSeconds, results }: Checkpoint,
): Promise<number | null> {
  // The lock prevents the transcription from ending, which deletes its checkpoints, in the meantime.
  const { rows } = await sql<{ faults: number }>`
    with held as (
      select id, attempt, faults from transcription
      where id = ${transcriptionId} and attempt = ${attempt} and status = 'PROCESSING'
      for no key update
    ), kept as (
      insert into transcription_stretch (transcription_id, attempt, number, settled_seconds, answers)
      select id, attempt, ${number}::int, ${settledSeconds}::double precision, ${results} from held
    ), advanced as (
      update transcription set faults = 0, losses = 0 from held
      where transcription.id = held.id and not exists (
        select from transcription_stretch
        where transcription_id = ${transcriptionId} and settled_seconds >= ${settledSeconds}::double precision
      )
      returning transcription.faults
    )
    select coalesce((select faults from advanced), faults) as faults from held`.execute(db);
  return rows[0]?.faults ?? null;
}

/** All checkpoints of all attempts, in no particular order. */
export async function readCheckpoints(db: Db, transcriptionId: string): Promise<Checkpoint[]> {
  return await db
    .selectFrom("transcription_stretch")
    .select(["settled_seconds as settledSeconds", "answers as results"])
    .where("transcription_id", "=", transcriptionId)
    .execute();
}

export async function removeCheckpoints(tx: Tx, transcriptionId: string): Promise<void> {
  await tx.deleteFrom("transcription_stretch").where("transcription_id", "=", transcriptionId).execute();
}
