import { sql } from "kysely";
import type { Tx } from "../db/schema.ts";
import {
  assignTag,
  estimateWork,
  type JobTag,
  lockEnvironmentQueue,
  markForRetag,
  priorityOfTag,
} from "./fair-queueing.ts";
import type { Queue } from "./queue.ts";

export interface TranscriptionJob {
  /** The transcription's new `job_id`. */
  jobId: string;
  transcriptionId: string;
  environmentId: string;
  delayMs?: number | null;
}

/**
 * Enqueues a transcription behind its environment's queued jobs.
 * @param job If it has a `tag`, the transcription keeps the place of its earlier job instead.
 */
export async function enqueue(
  { tx, queue }: { tx: Tx; queue: Queue },
  job: TranscriptionJob & { tag?: JobTag | null },
): Promise<void> {
  const { jobId, transcriptionId, environmentId, delayMs = null } = job;
  const { tag, priority } = job.tag
    ? { tag: job.tag, priority: await priorityOfTag(tx, job.tag) }
    : await assignTag(tx, environmentId, { workSeconds: await estimateWork(tx, transcriptionId) });
  await queue.sendTranscription(tx, { id: jobId, transcriptionId, environmentId, tag, priority, delayMs });
}

/**
 * Makes a delayed job due and assigns a new tag. Otherwise, jobs that were delayed together would all come before those
 * of other environments.
 */
export async function bringForward(
  { tx, queue }: { tx: Tx; queue: Queue },
  { jobId, transcriptionId, environmentId }: TranscriptionJob,
): Promise<void> {
  await lockEnvironmentQueue(tx, environmentId);
  const { rows } = await sql<{ start: number | null }>`
    select (data->'tag'->>'start')::bigint as start from pgboss.job
    where name = 'transcribe' and id = ${jobId} and state < 'active' for update`.execute(tx);
  // The job was claimed, or it is lost and reconciliation will replace it.
  if (rows.length === 0) return;
  const start = rows[0]!.start;
  if (start !== null) await markForRetag(tx, environmentId, { start });
  const workSeconds = await estimateWork(tx, transcriptionId);
  const { tag, priority } = await assignTag(tx, environmentId, { workSeconds });
  await queue.updateTranscription(tx, {
    id: jobId,
    transcriptionId,
    environmentId,
    tag,
    priority,
    delayMs: 0,
  });
}
