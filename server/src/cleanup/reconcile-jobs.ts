import type { Db } from "../db/schema.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import { assignNewJob, findLostJobs, type LostJob, MAX_LOST_JOBS } from "../queue/lost-job-queries.ts";
import { newJobId, QUEUE_NAMES, type Queue, type QueueName } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";

export interface JobSweepDeps extends ItemDeps {
  db: Db;
  queue: Queue;
}

/** Creates jobs for rows whose job is missing, for example because a queue was emptied or not restored. */
export async function sweepLostJobs(deps: JobSweepDeps, signal: AbortSignal): Promise<void> {
  for (const name of QUEUE_NAMES) await replaceJobs(deps, name, signal);
}

async function replaceJobs(deps: JobSweepDeps, name: QueueName, signal: AbortSignal): Promise<void> {
  for (;;) {
    const lostJobs = await findLostJobs(deps.db, name);
    let replaced = 0;
    for (const lostJob of lostJobs) {
      if (signal.aborted) return;
      const item = { task: "lost_jobs", queue: name, subjectId: lostJob.id };
      if (await guardItem(deps, item, () => replaceJob(deps, name, lostJob))) replaced += 1;
    }
    // If nothing was replaced, other processes are replacing the same jobs.
    if (lostJobs.length < MAX_LOST_JOBS || replaced === 0) return;
  }
}

async function replaceJob(
  { db, queue, log }: JobSweepDeps,
  name: QueueName,
  lostJob: LostJob,
): Promise<boolean> {
  const jobId = newJobId();
  const { id: subjectId, delayMs, group } = lostJob;
  const replaced = await db.transaction().execute(async (tx) => {
    if (!(await assignNewJob(tx, name, lostJob, jobId))) return false;
    if (name === "transcribe") {
      await enqueue({ tx, queue }, { jobId, transcriptionId: subjectId, environmentId: group!, delayMs });
    } else {
      const schedule = { ...(delayMs !== null && { delayMs }), ...(group !== null && { group }) };
      await queue.send(tx, name, { id: jobId, subjectId, ...schedule });
    }
    return true;
  });
  if (replaced) log.warn({ queue: name, subjectId }, "a lost job was replaced");
  return replaced;
}
