import { type Kysely, sql } from "kysely";

/**
 * What each delivery is of, so that those of a rare kind are found without looking at all events. A trigger notes it,
 * since processes of the release before do not.
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
