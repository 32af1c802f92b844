import { type Kysely, sql } from "kysely";

/** Tombstones, files without a row, and the store of this database's files. */
export async function storage(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("tombstone")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("deleted_at", "timestamptz", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("tombstone_deleted").on("tombstone").column("deleted_at").execute();
  // Triggers, so that deletions by processes of the previous release leave tombstones as well.
  await sql`
    create function write_tombstone() returns trigger language plpgsql as $$
    begin
      insert into tombstone (id, deleted_at) values (old.id, clock_timestamp()) on conflict do nothing;
      return null;
    end $$
  `.execute(db);
  for (const table of ["video", "transcription"]) {
    await sql`
      create trigger ${sql.ref(`${table}_tombstone`)} after delete on ${sql.table(table)}
      for each row execute function write_tombstone()
    `.execute(db);
  }
  await sql`
    create trigger video_recording_tombstone after update of recording_deleted_at on video
    for each row when (old.recording_deleted_at is null and new.recording_deleted_at is not null)
    execute function write_tombstone()
  `.execute(db);

  await db.schema
    .createTable("unknown_file")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("store", "text", (c) => c.notNull().check(sql`store in ('recordings', 'transcripts')`))
    .addColumn("first_seen_at", "timestamptz", (c) => c.notNull())
    .addColumn("last_seen_at", "timestamptz", (c) => c.notNull())
    .addColumn("bytes", "bigint", (c) => c.notNull())
    .execute();

  await db.schema
    .createTable("store_record")
    .addColumn("only", "boolean", (c) => c.primaryKey().defaultTo(true).check(sql`"only"`))
    .addColumn("store_id", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("home", "text", (c) => c.notNull())
    .addColumn("generation", "bigint", (c) => c.notNull())
    .addColumn("token", "text", (c) => c.notNull())
    .addColumn("advanced_at", "timestamptz", (c) => c.notNull())
    .execute();
}
