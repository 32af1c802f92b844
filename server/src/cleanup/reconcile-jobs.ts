import { findOperationsWithoutJob, replaceOperationJob } from "../bulk-operations/queries.ts";
import { findUpdatesWithoutJob, replaceUpdateJob } from "../corrections/update-queries.ts";
import type { Db, Tx } from "../db/schema.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import { findPostersWithoutJob, replacePosterJob } from "../posters/queries.ts";
import {
  findDeliveriesWithoutJob,
  findTranscriptionsWithoutJob,
  type LostJob,
  MAX_LOST_JOBS,
  replaceDeliveryJob,
  replaceTranscriptionJob,
} from "../queue/lost-job-queries.ts";
import { newJobId, type Queue, type QueueName } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";
import { findDocumentsWithoutJob, replaceDocumentJob } from "../search/document-queries.ts";

export interface JobSweepDeps extends ItemDeps {
  db: Db;
  queue: Queue;
}

/** Creates jobs for rows whose job is missing, for example because a queue was emptied or not restored. */
export async function sweepLostJobs(deps: JobSweepDeps, signal: AbortSignal): Promise<void> {
  await replaceJobs(deps, "transcribe", [findTranscriptionsWithoutJob, replaceTranscriptionJob], signal);
  await replaceJobs(deps, "deliver", [findDeliveriesWithoutJob, replaceDeliveryJob], signal);
  await replaceJobs(deps, "index", [findDocumentsWithoutJob, replaceDocumentJob], signal);
  await replaceJobs(deps, "announce", [findUpdatesWithoutJob, replaceUpdateJob], signal);
  await replaceJobs(deps, "bulk", [findOperationsWithoutJob, replaceOperationJob], signal);
  await replaceJobs(deps, "poster", [findPostersWithoutJob, replacePosterJob], signal);
}

async function replaceJobs(
  deps: JobSweepDeps,
  name: QueueName,
  [find, replace]: [
    find: (db: Db) => Promise<LostJob[]>,
    replace: (tx: Tx, lostJob: LostJob, newId: string) => Promise<boolean>,
  ],
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const lostJobs = await find(deps.db);
    let replaced = 0;
    for (const lostJob of lostJobs) {
      if (signal.aborted) return;
      const item = { task: "lost_jobs", queue: name, subjectId: lostJob.id };
      if (await guardItem(deps, item, () => replaceJob(deps, name, lostJob, replace))) replaced += 1;
    }
    // If nothing was replaced, other processes are replacing the same jobs.
    if (lostJobs.length < MAX_LOST_JOBS || replaced === 0) return;
  }
}

async function replaceJob(
  { db, queue, log }: JobSweepDeps,
  name: QueueName,
  lostJob: LostJob,
  replace: (tx: Tx, lostJob: LostJob, newId: string) => Promise<boolean>,
): Promise<boolean> {
  const jobId = newJobId();
  const { id: subjectId, delayMs, group } = lostJob;
  const replaced = await db.transaction().execute(async (tx) => {
    if (!(await replace(tx, lostJob, jobId))) return false;
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
