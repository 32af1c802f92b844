import { type Kysely, sql } from "kysely";

/**
 * The order of the queue. Rows of processes of the previous release stay readable: all of these columns are null there,
 * and the row is ordered by `created_at`.
 */
export async function turns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("transcription")
    .addColumn("due_at", "timestamptz")
    .addColumn("parked_at", "timestamptz")
    .execute();

  await sql`
    create index transcription_job on transcription (job_id) where status in ('PENDING', 'PROCESSING')
  `.execute(db);
  // For all environments, and for each one.
  await sql`
    create index transcription_waiting on transcription (coalesce(due_at, created_at), id)
    where status = 'PENDING' and parked_at is null
  `.execute(db);
  await sql`
    create index transcription_environment_waiting
    on transcription (environment_id, coalesce(due_at, created_at), id)
    where status = 'PENDING' and parked_at is null
  `.execute(db);
  await sql`
    create index transcription_environment_parked
    on transcription (environment_id, coalesce(due_at, created_at), id)
    where status = 'PENDING' and parked_at is not null
  `.execute(db);
}
