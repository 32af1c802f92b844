import { type Kysely, sql } from "kysely";

/** The outcome of each transcription attempt, and the waveforms of recordings that have no transcript. */
export async function attempts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("transcription")
    .addColumn("queued_at", "timestamptz")
    .addColumn("waveform_prefix", "text")
    .execute();
  await db.schema
    .createTable("transcription_attempt")
    .addColumn("transcription_id", "text", (c) =>
      c.notNull().references("transcription.id").onDelete("cascade"),
    )
    .addColumn("number", "integer", (c) => c.notNull())
    .addColumn("queued_at", "timestamptz", (c) => c.notNull())
    .addColumn("started_at", "timestamptz", (c) => c.notNull())
    .addColumn("decoded_at", "timestamptz")
    .addColumn("transcribed_at", "timestamptz")
    .addColumn("ended_at", "timestamptz")
    .addColumn("outcome", "text", (c) =>
      c.check(sql`outcome in ('completed', 'skipped', 'failed', 'returned', 'handed_back', 'lost')`),
    )
    .addColumn("failure_code", "text")
    .addColumn("failure_message", "text")
    .addColumn("retry_at", "timestamptz")
    .addPrimaryKeyConstraint("transcription_attempt_pkey", ["transcription_id", "number"])
    .addCheckConstraint("transcription_attempt_ended", sql`(ended_at is null) = (outcome is null)`)
    .execute();
}
