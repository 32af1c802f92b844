import { type Kysely, sql } from "kysely";

/** Deliveries whose next attempt is brought forward when their endpoint recovers. */
export async function earlyDeliveries(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("delivery")
    .addColumn("held_until", "timestamptz")
    .addColumn("early_attempts", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  // Only those that have failed: a working endpoint has none, however many deliveries are queued.
  await db.schema
    .createIndex("delivery_waiting")
    .on("delivery")
    .columns(["endpoint_id", "id"])
    .where(sql.ref("status"), "=", sql.lit("pending"))
    .where(sql.ref("attempts"), ">", sql.lit(0))
    .execute();
}
