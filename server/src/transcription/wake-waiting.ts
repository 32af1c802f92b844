import type { Db } from "../db/schema.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import type { Queue } from "../queue/queue.ts";
import { bringForward } from "../queue/transcription-jobs.ts";
import { endWaitForModel, findWaitsForModel, type WaitForModel } from "./model-wait-queries.ts";

interface WakeDeps extends ItemDeps {
  db: Db;
  queue: Queue;
}

/** Page size, because a hundred thousand transcriptions may be waiting after a long download. */
const BATCH = 200;

/**
 * Makes all transcriptions that wait for the speech model due. Call this when the model is installed or its download
 * has failed.
 * @param shutdown stops the loop; the remaining transcriptions are retried later
 */
export async function wakeWaiting(deps: WakeDeps, shutdown: AbortSignal): Promise<void> {
  let after: WaitForModel | null = null;
  for (;;) {
    const batch: WaitForModel[] = await findWaitsForModel(deps.db, { after, limit: BATCH });
    for (const wait of batch) {
      if (shutdown.aborted) return;
      await guardItem(deps, { task: "model_waits", transcriptionId: wait.id }, () => wake(deps, wait));
    }
    after = batch.at(-1) ?? null;
    if (batch.length < BATCH) return;
  }
}

async function wake({ db, queue, log }: WakeDeps, wait: WaitForModel): Promise<void> {
  const { id: transcriptionId, jobId, environmentId } = wait;
  await db.transaction().execute(async (tx) => {
    if (!(await endWaitForModel(tx, wait))) return;
    await bringForward({ tx, queue }, { jobId, transcriptionId, environmentId });
    log.info({ transcriptionId }, "a transcription no longer waits for the speech model");
  });
}
