import { setImmediate as nextTurn } from "node:timers/promises";
import type { Tx } from "../db/schema.ts";
import type { BulkOperationRow } from "../db/tables/videos.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError, type AppErrorCode } from "../lib/errors.ts";
import type { ItemDeps } from "../lib/guard-item.ts";
import { isOutage } from "../lib/outages.ts";
import type { ClaimedJob } from "../queue/job.ts";
import type { Queue } from "../queue/queue.ts";
import { findTranscriptionByVideo } from "../transcription/queries.ts";
import { reprocess } from "../transcription/reprocess.ts";
import { type DeleteVideoDeps, deleteVideo } from "../videos/delete-video.ts";
import { completeSelection, finishOperation } from "./operations.ts";
import {
  countProcessed,
  deleteRemainingItems,
  listPendingItems,
  type Outcome,
  recordOutcome,
  startOperation,
} from "./queries.ts";

export interface BulkOperationDeps extends DeleteVideoDeps, ItemDeps {
  queue: Queue;
  clock: Clock;
  log: ItemDeps["log"];
}

/** Videos between two updates of the counts. */
const BATCH = 50;
/** More than one, because deletions wait for storage. */
const CONCURRENCY = 4;
/** From this try on, a failure of the operation itself is final, unless it is an outage. */
const MAX_TRIES = 20;
/** Errors of videos that changed before they were processed. */
const SKIPPED: ReadonlySet<AppErrorCode> = new Set<AppErrorCode>([
  "transcription_not_found",
  "transcription_not_failed",
  "recording_deleted",
]);

/** The operation has ended, or another worker has processed the video. Rolls back the transaction of the video. */
class NotPendingError extends Error {}

/**
 * Selects the remaining videos of an operation, and retries or deletes all of them. The transaction that processes a
 * video also records its outcome, so that after a crash the next run processes only the remaining ones.
 */
export async function runBulkOperation(
  deps: BulkOperationDeps,
  job: ClaimedJob,
  shutdown: AbortSignal,
): Promise<void> {
  const { db, log } = deps;
  const operation = await startOperation(db, { id: job.subjectId, jobId: job.id });
  if (!operation) {
    await deleteRemainingItems(db, job.subjectId);
    return;
  }
  const signal = AbortSignal.any([shutdown, job.signal]);
  try {
    await completeSelection(db, operation.id, signal);
    await processAll(deps, operation, signal);
  } catch (error) {
    if (signal.aborted || isOutage(error) || job.retryCount + 1 < MAX_TRIES) throw error;
    log.error({ err: error, operationId: operation.id }, "a bulk operation failed");
    await finishOperation(deps, operation.id, { state: "failed" });
    await deleteRemainingItems(db, operation.id);
    return;
  }
  const ended = await finishOperation(deps, operation.id, { state: "completed" });
  await deleteRemainingItems(db, operation.id);
  if (!ended) return;
  const { id, kind, matched, done, failed, skipped } = ended;
  log.info({ operationId: id, kind, matched, done, failed, skipped }, "bulk operation completed");
}

async function processAll(
  deps: BulkOperationDeps,
  operation: BulkOperationRow,
  signal: AbortSignal,
): Promise<void> {
  let after = "";
  for (;;) {
    const batch = await listPendingItems(deps.db, operation.id, { after, limit: BATCH });
    if (batch.length === 0) return;
    after = batch.at(-1)!;
    const queue = batch.values();
    let turn = Promise.resolve();
    const work = async () => {
      for (const videoId of queue) {
        // Queries of the embedded database never wait, so the process would do nothing else. Each video has its own turn.
        turn = turn.then(() => nextTurn());
        await turn;
        signal.throwIfAborted();
        await processOne(deps, operation, videoId);
      }
    };
    // Waits for all of them before it throws, so that no work continues after the job has ended.
    const results = await Promise.allSettled(Array.from({ length: CONCURRENCY }, work));
    for (const result of results) if (result.status === "rejected") throw result.reason;
    const unfinished = await deps.db
      .transaction()
      .execute((tx) => countProcessed(tx, operation.id, { first: batch[0]!, last: after }));
    if (!unfinished || batch.length < BATCH) return;
  }
}

async function processOne(
  deps: BulkOperationDeps,
  operation: BulkOperationRow,
  videoId: string,
): Promise<void> {
  const item = { operationId: operation.id, videoId };
  try {
    const outcome = await apply(deps, operation, videoId, (tx) => recordOrRollBack(tx, item, "done"));
    if (outcome === "skipped") await recordAlone(deps, item, "skipped");
    else deps.log.info({ ...item, kind: operation.kind }, "a bulk operation processed a video");
  } catch (error) {
    if (error instanceof NotPendingError) return;
    if (isOutage(error)) throw error;
    if (error instanceof AppError && SKIPPED.has(error.code)) {
      await recordAlone(deps, item, "skipped");
      return;
    }
    deps.log.error({ err: error, ...item }, "could not process a video; continuing with the next");
    deps.onItemFailed?.("bulk");
    await recordAlone(deps, item, "failed");
  }
}

/** @param inTransaction runs in the transaction that changes the video */
async function apply(
  deps: BulkOperationDeps,
  { kind, environment_id: environmentId }: BulkOperationRow,
  videoId: string,
  inTransaction: (tx: Tx) => Promise<void>,
): Promise<Outcome> {
  if (kind === "delete") {
    return (await deleteVideo(deps, { environmentId, videoId }, inTransaction)) ? "done" : "skipped";
  }
  const transcription = await findTranscriptionByVideo(deps.db, videoId);
  if (transcription?.status !== "FAILED") return "skipped";
  await reprocess(deps, transcription.id, inTransaction);
  return "done";
}

async function recordOrRollBack(
  tx: Tx,
  item: { operationId: string; videoId: string },
  outcome: Outcome,
): Promise<void> {
  if (!(await recordOutcome(tx, item, outcome))) throw new NotPendingError();
}

async function recordAlone(
  { db }: BulkOperationDeps,
  item: { operationId: string; videoId: string },
  outcome: Outcome,
): Promise<void> {
  await db.transaction().execute((tx) => recordOutcome(tx, item, outcome));
}
