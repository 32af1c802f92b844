import { type Kysely, sql } from "kysely";

/** Deletions that open video lists must show, and the index for listing deliveries by state. */
export async function deletions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("video_deletion")
    .addColumn("environment_id", "text", (c) => c.notNull())
    .addColumn("video_id", "text", (c) => c.notNull())
    .addColumn("deleted_at", "timestamptz", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("video_deletion_environment")
    .on("video_deletion")
    .columns(["environment_id", "deleted_at"])
    .execute();
  await db.schema.createIndex("video_deletion_time").on("video_deletion").column("deleted_at").execute();
  // Clients read deletions within seconds. Later deletions remove older rows, skipping rows that others have locked.
  await sql`
    create function note_video_deletion() returns trigger language plpgsql as $$
    begin
      insert into video_deletion (environment_id, video_id, deleted_at)
      values (old.environment_id, old.id, clock_timestamp());
      delete from video_deletion where ctid = any (array(
        select ctid from video_deletion where deleted_at < clock_timestamp() - interval '10 minutes'
        order by deleted_at limit 20 for update skip locked
      ));
      return null;
    end $$
  `.execute(db);
  await sql`
    create trigger video_deleted after delete on video
    for each row execute function note_video_deletion()
  `.execute(db);

  await db.schema
    .createIndex("delivery_endpoint_status")
    .on("delivery")
    .columns(["endpoint_id", "status", "id"])
    .execute();
}
