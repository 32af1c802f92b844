import { type Kysely, sql } from "kysely";

/**
 * Whose turn it is. What processes of the release before write is read as well: to them every column here is null,
 * and a row is then in its place by `created_at`.
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
  // Of all environments, and of each.
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
