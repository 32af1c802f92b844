import type { Db, Tx } from "../db/schema.ts";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";
import { findTranscription, lockRecording, reopenFailedTranscription } from "./queries.ts";

/**
 * FAILED → PENDING. Keeps the earlier attempts.
 * @throws AppError `transcription_not_found`, `transcription_not_failed`, `recording_deleted`
 */
export async function reprocess(
  { db, queue, clock }: { db: Db; queue: Queue; clock: Clock },
  transcriptionId: string,
  inTransaction: (tx: Tx, row: TranscriptionRow) => Promise<unknown> = async () => {},
): Promise<TranscriptionRow> {
  const reopened = await db.transaction().execute(async (tx) => {
    const found = await findTranscription(tx, transcriptionId);
    if (found?.status === "FAILED" && (await lockRecording(tx, found.video_id))) {
      throw new AppError("recording_deleted", "The recording was deleted when its retention period ended.");
    }
    const jobId = newJobId();
    const row = await reopenFailedTranscription(tx, transcriptionId, jobId, clock.now());
    if (!row) return undefined;
    await enqueue({ tx, queue }, { jobId, transcriptionId: row.id, environmentId: row.environment_id });
    await inTransaction(tx, row);
    return row;
  });
  if (reopened) return reopened;
  const row = await findTranscription(db, transcriptionId);
  if (!row) throw new AppError("transcription_not_found", "No transcription has this ID.");
  throw new AppError("transcription_not_failed", `The transcription is ${row.status}.`);
}
