import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import { assignMissingJobs } from "../posters/queries.ts";
import type { Queue } from "../queue/queue.ts";

/**
 * Maximum number of waiting posters. Limits the delay for new videos and the number of recordings that are
 * downloaded from a bucket at once.
 */
const MAX_UNFINISHED = 50;

/** Enqueues posters of transcriptions that ended before this release, a few with each sweep. */
export async function sweepPosters({ db, queue, log }: { db: Db; queue: Queue; log: Logger }): Promise<void> {
  const jobs = await db.transaction().execute(async (tx) => {
    const assigned = await assignMissingJobs(tx, MAX_UNFINISHED);
    for (const { jobId, transcriptionId } of assigned) {
      await queue.send(tx, "poster", { id: jobId, subjectId: transcriptionId });
    }
    return assigned;
  });
  if (jobs.length > 0) log.info({ posters: jobs.length }, "posters of earlier transcriptions enqueued");
}
