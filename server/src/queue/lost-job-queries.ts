import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";

export interface NamedJob {
  id: string;
  jobId: string;
}

/** A row whose job no longer exists. */
export interface LostJob extends NamedJob {
  /** Time until the row's next job is due; null if it is due now. */
  delayMs: number | null;
  /** Id of a transcription's environment or a delivery's endpoint. */
  group: string | null;
}

/** Limits a batch, because after the queue is emptied, every waiting row lacks a job. */
export const MAX_LOST_JOBS = 500;

const msUntil = (time: string) => sql`extract(epoch from ${sql.ref(time)} - now())::float8 * 1000`;
/**
 * States of jobs that are running or will run. pg-boss eventually deletes all others, but a row waits until its job has
 * run.
 */
const LIVE_STATES = sql`('created', 'retry', 'active')`;

export async function findTranscriptionsWithoutJob(db: Db): Promise<LostJob[]> {
  const { rows } = await sql<LostJob>`
    select id, job_id as "jobId", ${msUntil("due_at")} as "delayMs", environment_id as "group" from transcription
    where status in ('PENDING', 'PROCESSING') and not exists (
      select from pgboss.job where name = 'transcribe' and job.id = job_id and state in ${LIVE_STATES}
    )
    limit ${MAX_LOST_JOBS}`.execute(db);
  return rows;
}

export async function findDeliveriesWithoutJob(db: Db): Promise<LostJob[]> {
  // Searches by endpoint to use the index, because most deliveries ended long ago.
  const { rows } = await sql<LostJob>`
    select pending.id, job_id as "jobId", ${msUntil("next_attempt_at")} as "delayMs", endpoint_id as "group"
    from webhook_endpoint
    cross join lateral (
      select id, job_id, next_attempt_at, endpoint_id from delivery
      where endpoint_id = webhook_endpoint.id and status = 'pending' and not exists (
        select from pgboss.job where name = 'deliver' and job.id = job_id and state in ${LIVE_STATES}
      )
      limit ${MAX_LOST_JOBS}
    ) as pending
    limit ${MAX_LOST_JOBS}`.execute(db);
  return rows;
}

/** Gives the row a new job. Returns false if the row has changed in the meantime. */
export async function replaceTranscriptionJob(
  tx: Tx,
  { id, jobId }: NamedJob,
  newId: string,
): Promise<boolean> {
  const row = await tx
    .updateTable("transcription")
    .set({ job_id: newId })
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "in", ["PENDING", "PROCESSING"])
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Gives the row a new job. Returns false if the row has changed in the meantime. */
export async function replaceDeliveryJob(tx: Tx, { id, jobId }: NamedJob, newId: string): Promise<boolean> {
  const row = await tx
    .updateTable("delivery")
    .set({ job_id: newId })
    .where("id", "=", id)
    .where("job_id", "=", jobId)
    .where("status", "=", "pending")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
