import { type Kysely, sql } from "kysely";

/**
 * The event type of each delivery, so that deliveries of a rare type are found without reading all events. Set by a
 * trigger, because processes of the previous release do not set it.
 */
export async function eventTypes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("delivery").addColumn("event_type", "text").execute();
  await sql`
    create function note_event_type() returns trigger language plpgsql as $$
    begin
      select type into new.event_type from event where id = new.event_id;
      return new;
    end $$
  `.execute(db);
  await sql`
    create trigger delivery_event_type before insert on delivery
    for each row execute function note_event_type()
  `.execute(db);
  await sql`
    update delivery set event_type = event.type from event where event.id = delivery.event_id
  `.execute(db);
  await db.schema
    .createIndex("delivery_endpoint_event")
    .on("delivery")
    .columns(["endpoint_id", "event_type", "status", "id"])
    .execute();
}
