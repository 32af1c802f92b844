import { type Kysely, sql } from "kysely";

/** Checkpoints of running transcriptions, so that a lost worker costs little work and long recordings can yield. */
export async function keptStretches(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("transcription_stretch")
    .addColumn("transcription_id", "text", (c) =>
      c.notNull().references("transcription.id").onDelete("cascade"),
    )
    .addColumn("attempt", "integer", (c) => c.notNull())
    .addColumn("number", "integer", (c) => c.notNull())
    .addColumn("settled_seconds", "double precision", (c) => c.notNull())
    .addColumn("answers", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("transcription_stretch_pkey", ["transcription_id", "attempt", "number"])
    .execute();
  // Adds one outcome; rows of earlier releases stay valid.
  await db.schema
    .alterTable("transcription_attempt")
    .dropConstraint("transcription_attempt_outcome_check")
    .execute();
  await db.schema
    .alterTable("transcription_attempt")
    .addCheckConstraint(
      "transcription_attempt_outcome_check",
      sql`outcome in ('completed', 'skipped', 'failed', 'returned', 'handed_back', 'yielded', 'lost')`,
    )
    .execute();
}
