import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { removeQueuedJob } from "../queue/fair-queueing.ts";
import type { Queue } from "../queue/queue.ts";
import { emitEvent } from "../webhooks/emit.ts";
import { failCanceled, findTranscription, lockUnfinished } from "./queries.ts";
import type { RunningAttempts } from "./running-attempts.ts";

export interface CancelDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  running: RunningAttempts;
}

const CANCELED = { code: "canceled", message: "An operator canceled the transcription." };

/**
 * PENDING or PROCESSING → FAILED `canceled`. Keeps the checkpoints for a retry. The row's new status fences a running
 * attempt, which ends immediately if it runs in this process, otherwise within two seconds.
 * @throws AppError `transcription_not_found`, `transcription_finished`
 */
export async function cancelTranscription(
  { db, queue, clock, running }: CancelDeps,
  transcriptionId: string,
  inTransaction: (tx: Tx, row: TranscriptionRow) => Promise<unknown> = async () => {},
): Promise<TranscriptionRow> {
  const canceled = await db.transaction().execute(async (tx) => {
    const unfinished = await lockUnfinished(tx, transcriptionId);
    if (!unfinished) return undefined;
    const now = clock.now();
    const row = await failCanceled(tx, unfinished, CANCELED, now);
    await removeQueuedJob(tx, row.environment_id, row.job_id);
    const detail = { error: CANCELED, duration: row.duration };
    await emitEvent({ tx, queue, now }, row, "transcriptions.transcription.failed", detail);
    await inTransaction(tx, row);
    return row;
  });
  if (canceled) {
    // Not awaited: an attempt that cannot reach the storage may take minutes to end.
    void running.cancel(canceled.job_id);
    return canceled;
  }
  const row = await findTranscription(db, transcriptionId);
  if (!row) throw new AppError("transcription_not_found", "No transcription has this ID.");
  throw new AppError("transcription_finished", `The transcription is ${row.status}.`);
}
