import type { Kysely } from "kysely";

/** The audit log. Without foreign keys: an event outlives the resources that it names. */
export async function audit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("audit_entry")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("at", "timestamptz", (c) => c.notNull())
    .addColumn("action", "text", (c) => c.notNull())
    .addColumn("actor_kind", "text", (c) => c.notNull())
    .addColumn("actor_id", "text")
    .addColumn("actor_name", "text")
    .addColumn("address", "text")
    .addColumn("environment_id", "text")
    .addColumn("environment_name", "text")
    .addColumn("subject_id", "text")
    .addColumn("subject_name", "text")
    .addColumn("detail", "jsonb", (c) => c.notNull())
    .execute();
  // Ids sort by creation time, so pages follow them.
  await db.schema.createIndex("audit_entry_action").on("audit_entry").columns(["action", "id"]).execute();
  await db.schema
    .createIndex("audit_entry_actor_kind")
    .on("audit_entry")
    .columns(["actor_kind", "id"])
    .execute();
  await db.schema.createIndex("audit_entry_actor").on("audit_entry").columns(["actor_id", "id"]).execute();
  await db.schema.createIndex("audit_entry_at").on("audit_entry").column("at").execute();
}
