import type { KeptStretch } from "@subtext/speech/kept/kept-stretch";
import { sql } from "kysely";
import type { Db, Tx } from "./schema.ts";
import type { Hold } from "./transcriptions.ts";

/**
 * Keeps one more stretch of what an attempt has heard, until the transcription ends.
 * @param number Its place among those of the attempt.
 * @returns false where the hold is void
 */
export async function keepStretch(
  db: Db,
  { transcriptionId, attempt }: Hold,
  number: number,
  { settledSeconds, answers }: KeptStretch,
): Promise<boolean> {
  // The lock lets no end of the transcription, which removes what is kept, go by unseen.
  const { numAffectedRows } = await sql`
    insert into transcription_stretch (transcription_id, attempt, number, settled_seconds, answers)
    select id, attempt, ${number}::int, ${settledSeconds}::double precision, ${answers}
    from transcription
    where id = ${transcriptionId} and attempt = ${attempt} and status = 'PROCESSING'
    for share`.execute(db);
  return numAffectedRows === 1n;
}

/** All that any attempt has kept of it, in no particular order. */
export async function readKeptStretches(db: Db, transcriptionId: string): Promise<KeptStretch[]> {
  return await db
    .selectFrom("transcription_stretch")
    .select(["settled_seconds as settledSeconds", "answers"])
    .where("transcription_id", "=", transcriptionId)
    .execute();
}

export async function removeKeptStretches(tx: Tx, transcriptionId: string): Promise<void> {
  await tx.deleteFrom("transcription_stretch").where("transcription_id", "=", transcriptionId).execute();
}
