import { type RawBuilder, sql } from "kysely";
import type { Db, Schema, Tx } from "../db/schema.ts";
import type { QueueName } from "./queue.ts";

export interface NamedJob {
  id: string;
  jobId: string;
}

/** A row whose job no longer exists. */
export interface LostJob extends NamedJob {
  /** Time until the row's next job is due; null, 0 or negative if it is due now. */
  delayMs: number | null;
  /** Id of a transcription's environment or a delivery's endpoint. */
  group: string | null;
}

/** Batch size. Limited, because every waiting row lacks a job after the queue was emptied. */
export const MAX_LOST_JOBS = 500;

/**
 * States of jobs that are running or will run. pg-boss eventually deletes all others, but a row waits until its job has
 * run.
 */
const LIVE_STATES = sql`('created', 'retry', 'active')`;

/** How to find the rows of a table that are waiting for a job. */
interface WaitingRows {
  table: keyof Schema;
  /** Default: `id`. */
  id?: string;
  /** Column with the job's id. Default: `job_id`. */
  job?: string;
  isWaiting: RawBuilder<unknown>;
  dueAt?: string;
  group?: string;
}

const ROWS: Record<QueueName, WaitingRows> = {
  transcribe: {
    table: "transcription",
    isWaiting: sql`status in ('PENDING', 'PROCESSING')`,
    dueAt: "due_at",
    group: "environment_id",
  },
  deliver: {
    table: "delivery",
    isWaiting: sql`status = 'pending'`,
    dueAt: "next_attempt_at",
    group: "endpoint_id",
  },
  index: { table: "search_document", id: "transcription_id", isWaiting: sql`indexed_at is null` },
  announce: { table: "transcript_update", id: "transcription_id", isWaiting: sql`job_id is not null` },
  bulk: { table: "bulk_operation", isWaiting: sql`finished_at is null and job_id is not null` },
  poster: {
    table: "transcription",
    job: "poster_job_id",
    isWaiting: sql`poster_job_id is not null and poster_ended_at is null`,
  },
};

export async function findLostJobs(db: Db, queue: QueueName): Promise<LostJob[]> {
  const { table, id = "id", job = "job_id", isWaiting, dueAt, group } = ROWS[queue];
  const delayMs = dueAt ? sql`extract(epoch from ${sql.ref(dueAt)} - now())::float8 * 1000` : sql`null`;
  const ofEndpoint = queue === "deliver" ? sql`and endpoint_id = webhook_endpoint.id` : sql``;
  const lost = sql<LostJob>`
    select ${sql.ref(id)} as id, ${sql.ref(job)} as "jobId", ${delayMs} as "delayMs",
      ${group ? sql.ref(group) : sql`null`} as "group"
    from ${sql.table(table)}
    where ${isWaiting} ${ofEndpoint} and not exists (
      select from pgboss.job
      where name = ${queue} and job.id = ${sql.ref(`${table}.${job}`)} and state in ${LIVE_STATES}
    )
    limit ${MAX_LOST_JOBS}`;
  // Searches by endpoint to use the index, because most deliveries ended long ago.
  const byEndpoint = sql<LostJob>`
    select lost.* from webhook_endpoint cross join lateral (${lost}) as lost limit ${MAX_LOST_JOBS}`;
  const { rows } = await (queue === "deliver" ? byEndpoint : lost).execute(db);
  return rows;
}

/** Assigns a new job to the row. Returns false if it got another job or no longer waits for one. */
export async function assignNewJob(
  tx: Tx,
  queue: QueueName,
  { id: rowId, jobId }: NamedJob,
  newId: string,
): Promise<boolean> {
  const { table, id = "id", job = "job_id", isWaiting } = ROWS[queue];
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.ref(job)} = ${newId}
    where ${sql.ref(id)} = ${rowId} and ${sql.ref(job)} = ${jobId} and ${isWaiting}`.execute(tx);
  return numAffectedRows > 0n;
}

/** Returns the priority for a job that replaces this one. */
export async function priorityOfJob(tx: Tx, queue: QueueName, id: string): Promise<number> {
  const { rows } = await sql<{ priority: number }>`
    select priority from pgboss.job where name = ${queue} and id = ${id}`.execute(tx);
  return rows[0]?.priority ?? 0;
}
