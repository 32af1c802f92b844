import { type Kysely, sql } from "kysely";

/** Retention periods, the recordings that retention deleted, and missing files. */
export async function housekeeping(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("environment")
    .addColumn("retention_days", "integer", (c) => c.check(sql`retention_days > 0`))
    .addColumn("retention_deletes", "text", (c) => c.check(sql`retention_deletes in ('recording', 'video')`))
    .execute();
  await db.schema
    .alterTable("environment")
    .addCheckConstraint(
      "environment_retention_whole",
      sql`(retention_days is null) = (retention_deletes is null)`,
    )
    .execute();
  await db.schema.alterTable("video").addColumn("recording_deleted_at", "timestamptz").execute();
  // One index for videos with a recording, one for the others, so that handled videos are not read again.
  await db.schema
    .createIndex("video_with_recording")
    .on("video")
    .columns(["environment_id", "uploaded_at", "id"])
    .where(sql<boolean>`recording_deleted_at is null and uploaded_at is not null`)
    .execute();
  await db.schema
    .createIndex("video_without_recording")
    .on("video")
    .columns(["environment_id", "uploaded_at", "id"])
    .where(sql<boolean>`recording_deleted_at is not null`)
    .execute();

  await db.schema
    .createTable("missing_file")
    .addColumn("video_id", "text", (c) => c.notNull().references("video.id").onDelete("cascade"))
    .addColumn("part", "text", (c) => c.notNull().check(sql`part in ('recording', 'transcript')`))
    .addColumn("noticed_at", "timestamptz", (c) => c.notNull())
    .addPrimaryKeyConstraint("missing_file_pkey", ["video_id", "part"])
    .execute();
  await db.schema
    .createTable("file_check")
    .addColumn("only", "boolean", (c) => c.primaryKey().defaultTo(true).check(sql`"only"`))
    .addColumn("position", "text", (c) => c.notNull())
    .addColumn("round_ended_at", "timestamptz")
    .execute();
}
