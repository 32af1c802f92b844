import type { Kysely } from "kysely";

/** Which audio track was transcribed, if it is not the default or only one. Older processes leave it null. */
export async function audioTrack(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("transcription").addColumn("audio_track", "integer").execute();
}
