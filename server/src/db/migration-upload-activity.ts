import { type Kysely, sql } from "kysely";

/**
 * When bytes of an upload last arrived, by the database's clock. Existing rows get the time of the migration, and rows
 * of older processes the time of their insert: neither expires earlier than one expiry period after that.
 */
export async function uploadActivity(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("video")
    .addColumn("upload_active_at", "timestamptz", (c) => c.notNull().defaultTo(sql`now()`))
    .execute();
  // Upload activity is not a change of the video: it updates no search index, open list or backup.
  await sql`drop trigger video_changed on video`.execute(db);
  await sql`
    create trigger video_inserted before insert on video
    for each row execute function note_change()
  `.execute(db);
  await sql`
    create trigger video_changed before update on video
    for each row when (old.upload_active_at = new.upload_active_at) execute function note_change()
  `.execute(db);
}
