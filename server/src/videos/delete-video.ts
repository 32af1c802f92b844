import type { Locker } from "@tus/utils";
import type { Db, Tx } from "../db/schema.ts";
import { removeQueuedJob } from "../queue/fair-queueing.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { TRANSCRIPTS_PREFIX } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import type { RunningAttempts } from "../transcription/running-attempts.ts";
import { deleteVideoRows } from "./queries.ts";

export interface DeleteVideoDeps {
  db: Db;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  locker: Locker;
  running: RunningAttempts;
  log: { error(context: object, message: string): void };
}

/**
 * Deletes a video and all of its data. One transaction deletes the rows first, so that a crash leaves only files, which
 * the sweep removes. Then stops a running upload, and an attempt in this process. An attempt in another process stops
 * within two seconds.
 * @param inTransaction runs in the transaction that deletes the rows
 * @returns false if the environment has no such video
 */
export async function deleteVideo(
  { db, recordings, transcripts, locker, running, log }: DeleteVideoDeps,
  { environmentId, videoId }: { environmentId: string; videoId: string },
  inTransaction: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<boolean> {
  const deleted = await db.transaction().execute(async (tx) => {
    const rows = await deleteVideoRows(tx, environmentId, videoId);
    if (rows?.transcription) await removeQueuedJob(tx, environmentId, rows.transcription.job_id);
    if (rows) await inTransaction(tx);
    return rows;
  });
  if (!deleted) return false;
  const { video, transcription } = deleted;
  try {
    if (transcription) await running.cancel(transcription.job_id);
    if (video.uploaded_at === null) await stopWriting(locker, videoId);
    await recordings.remove(videoId);
    if (transcription) {
      for await (const key of transcripts.list(`${TRANSCRIPTS_PREFIX}${transcription.id}/`))
        await transcripts.remove(key);
    }
  } catch (error) {
    log.error(
      { err: error, videoId },
      "could not remove files of a deleted video; the sweep will remove them",
    );
  }
  return true;
}

/** Stops the writer of the upload. No new writer can start, because the row is deleted. */
async function stopWriting(locker: Locker, videoId: string): Promise<void> {
  const lock = locker.newLock(videoId);
  await lock.lock(new AbortController().signal, () => {});
  await lock.unlock();
}
