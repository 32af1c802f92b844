import type { Kysely } from "kysely";

/** What was heard of recordings that are worked on, so that a lost worker costs little of them. */
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
}
