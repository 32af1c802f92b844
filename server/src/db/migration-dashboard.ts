import { type Kysely, sql } from "kysely";

/** Operator roles and invitations, and the columns by which the live video list is sorted. */
export async function dashboard(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("operator")
    .addColumn("role", "text", (c) => c.notNull().defaultTo("owner").check(sql`role in ('owner', 'viewer')`))
    .execute();
  await db.schema
    .createTable("operator_invitation")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("email", "text", (c) => c.notNull().unique())
    .addColumn("role", "text", (c) => c.notNull().check(sql`role in ('owner', 'viewer')`))
    .addColumn("token_hash", "text", (c) => c.notNull().unique())
    .addColumn("created_at", "timestamptz", (c) => c.notNull())
    .addColumn("expires_at", "timestamptz", (c) => c.notNull())
    .execute();

  // Set by triggers, so that writes of processes of the previous release are covered too.
  await sql`
    create function note_change() returns trigger language plpgsql as $$
    begin
      new.changed_at := clock_timestamp();
      return new;
    end $$
  `.execute(db);
  for (const table of ["video", "transcription"]) {
    await db.schema
      .alterTable(table)
      .addColumn("changed_at", "timestamptz", (c) => c.notNull().defaultTo(sql`now()`))
      .execute();
    await sql`
      create trigger ${sql.ref(`${table}_changed`)} before insert or update on ${sql.table(table)}
      for each row execute function note_change()
    `.execute(db);
    await db.schema
      .createIndex(`${table}_environment_changed`)
      .on(table)
      .columns(["environment_id", "changed_at"])
      .execute();
  }

  await db.schema
    .createIndex("video_environment_uploading")
    .on("video")
    .columns(["environment_id", "id"])
    .where(sql.ref("uploaded_at"), "is", null)
    .execute();
  await db.schema
    .createIndex("video_environment_untranscribed")
    .on("video")
    .columns(["environment_id", "id"])
    .where(sql<boolean>`ai_transcription is false`)
    .execute();
}
