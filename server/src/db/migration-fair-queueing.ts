import { type Kysely, sql } from "kysely";

/**
 * Start-time fair queueing; see `queue/fair-queueing.ts`. Safe while processes of the release before run: their jobs have
 * no tag and get one from the next process of this release, and jobs that they exchange between transcriptions are
 * replaced. Their claims are slower without the three indexes, until they have stopped. `parked_at` is read by them only.
 */
export async function fairQueueing(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("environment_queue")
    .addColumn("environment_id", "text", (c) =>
      c.primaryKey().references("environment.id").onDelete("cascade"),
    )
    .addColumn("weight", "integer", (c) => c.notNull().defaultTo(1).check(sql`weight between 1 and 100`))
    .addColumn("finish_tag", "bigint", (c) => c.notNull().defaultTo(0))
    .addColumn("retag_from", "bigint")
    .addColumn("work_seconds_per_byte", "double precision")
    .execute();
  await db.schema
    .createTable("queue_clock")
    .addColumn("only", "boolean", (c) => c.primaryKey().defaultTo(true).check(sql`"only"`))
    .addColumn("virtual_time", "bigint", (c) => c.notNull().defaultTo(0))
    .addColumn("base", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`insert into queue_clock default values`.execute(db);

  await db.schema.dropIndex("transcription_waiting").execute();
  await db.schema.dropIndex("transcription_environment_waiting").execute();
  await db.schema.dropIndex("transcription_environment_parked").execute();
}
