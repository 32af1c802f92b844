import type { Logger } from "pino";
import {
  findDeliveriesWithoutJob,
  findTranscriptionsWithoutJob,
  type JobLoss,
  replaceDeliveryJob,
  replaceTranscriptionJob,
} from "../db/lost-jobs.ts";
import type { Db, Tx } from "../db/schema.ts";
import {
  findDocumentsWithoutJob,
  insertMissingDocuments,
  replaceDocumentJob,
} from "../db/search-documents.ts";
import { newJobId, type Queue, type QueueName } from "../queue.ts";

export interface JobSweepDeps {
  db: Db;
  queue: Queue;
  log: Logger;
}

/** Small, for on the embedded database everybody else waits meanwhile. */
const UNINDEXED_BATCH = 50;

/** Gives rows a new job where theirs is gone. */
export async function sweepLostJobs(deps: JobSweepDeps, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  await replaceJobs(
    deps,
    "transcribe",
    await findTranscriptionsWithoutJob(db),
    replaceTranscriptionJob,
    signal,
  );
  await replaceJobs(deps, "deliver", await findDeliveriesWithoutJob(db), replaceDeliveryJob, signal);
  await replaceJobs(deps, "index", await findDocumentsWithoutJob(db), replaceDocumentJob, signal);
}

async function replaceJobs(
  { db, queue, log }: JobSweepDeps,
  name: QueueName,
  losses: JobLoss[],
  replace: (tx: Tx, loss: JobLoss, newId: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  for (const loss of losses) {
    if (signal.aborted) return;
    const jobId = newJobId();
    await db.transaction().execute(async (tx) => {
      if (!(await replace(tx, loss, jobId))) return;
      const { id: subjectId, delayMs, group } = loss;
      await queue.send(tx, name, {
        id: jobId,
        subjectId,
        ...(delayMs !== null && { delayMs }),
        ...(group !== null && { group }),
      });
      log.warn({ queue: name, subjectId }, "a lost job was replaced");
    });
  }
}

/** Has what was completed by a release that knew no search made searchable. */
export async function sweepUnindexed({ db, queue, log }: JobSweepDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const documents = await db.transaction().execute(async (tx) => {
      const made = await insertMissingDocuments(tx, UNINDEXED_BATCH);
      for (const { id, jobId } of made) await queue.send(tx, "index", { id: jobId, subjectId: id });
      return made;
    });
    if (documents.length === 0) return;
    log.info({ transcripts: documents.length }, "transcripts will be made searchable");
  }
}
