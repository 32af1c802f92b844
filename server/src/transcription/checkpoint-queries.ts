import type { Checkpoint } from "@subtext/speech/checkpoints/checkpoint";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { AttemptLease } from "./attempt-queries.ts";

/**
 * Keeps one more stretch of what an attempt has heard, until the transcription ends. Faults and losses are counted
 * from the furthest stretch on: a recording of hours may meet more of them than a short one, as long as it gets on.
 * @param number Its place among those of the attempt.
 * @returns how many faults count from now on; null where the lease is void
 */
export async function saveCheckpoint(
  db: Db,
  { transcriptionId, attempt }: AttemptLease,
  number: number,
  { settledSeconds, results }: Checkpoint,
): Promise<number | null> {
  // The lock lets no end of the transcription, which removes what is kept, go by unseen.
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

/** All that any attempt has kept of it, in no particular order. */
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
