import { type Kysely, sql } from "kysely";

/** Which formats a transcript has. Transcripts of older processes have the three of the first releases. */
export async function fileFormats(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("transcription")
    .addColumn("file_formats", "jsonb", (c) => c.notNull().defaultTo(sql`'["vtt", "json", "txt"]'::jsonb`))
    .execute();
}
