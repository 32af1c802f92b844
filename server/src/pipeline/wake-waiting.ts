import type { Logger } from "pino";
import { unparkOldest } from "../db/environment-cap.ts";
import { endWaitForModel, findWaitsForModel, type WaitForModel } from "../db/model-waits.ts";
import type { Db, Tx } from "../db/schema.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import { newJobId, type Queue } from "../queue/queue.ts";

/** Read at a time: a model that is long in coming may have a hundred thousand wait for it. */
const BATCH = 200;

/**
 * Has every transcription that waits for the speech model tried at once, by whichever process takes it: the model
 * has come, or will not come soon. The jobs that would have come for them later find themselves replaced.
 * @param shutdown ends it before the next; who waits is tried later all the same
 */
export async function wakeWaiting(
  deps: { db: Db; queue: Queue } & ItemDeps,
  shutdown: AbortSignal,
): Promise<void> {
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

async function wake(
  { db, queue, log }: { db: Db; queue: Queue; log: Logger },
  wait: WaitForModel,
): Promise<void> {
  const jobId = newJobId();
  await db.transaction().execute(async (tx) => {
    if (!(await endWaitForModel(tx, wait, jobId))) return;
    await queue.send(tx, "transcribe", { id: jobId, subjectId: wait.id });
    log.info({ transcriptionId: wait.id }, "a transcription waits for the speech model no longer");
  });
}

/**
 * Has the next transcription of the environment tried that waits for it to be below its cap. Part of every
 * transaction that ends an attempt.
 */
export async function wakeParked(
  { tx, queue }: { tx: Tx; queue: Queue },
  environmentId: string,
): Promise<void> {
  const jobId = newJobId();
  const id = await unparkOldest(tx, environmentId, jobId);
  if (id !== undefined) await queue.send(tx, "transcribe", { id: jobId, subjectId: id });
}
