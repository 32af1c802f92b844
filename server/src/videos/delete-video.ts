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
 * Removes a video and all that came of it. The rows go first, in one transaction: from then on it is not
 * there, whatever becomes of its files, and a crash leaves nothing but files without an owner, which the sweep
 * removes. What still works on it is ended: an upload lets go of its file, an attempt in this process drops
 * its work at once, one in another process within a second or two.
 * @param also what belongs to the deletion and must succeed or fail with it
 * @returns false where the environment has no such video
 */
export async function deleteVideo(
  { db, recordings, transcripts, locker, running, log }: DeleteVideoDeps,
  { environmentId, videoId }: { environmentId: string; videoId: string },
  also: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<boolean> {
  const deleted = await db.transaction().execute(async (tx) => {
    const rows = await deleteVideoRows(tx, environmentId, videoId);
    if (rows?.transcription) await removeQueuedJob(tx, environmentId, rows.transcription.job_id);
    if (rows) await also(tx);
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
    log.error({ err: error, videoId }, "files of a deleted video are left; the sweep will remove them");
  }
  return true;
}

/** Whoever writes to the upload is told to make an end; nobody can begin, since its row is gone. */
async function stopWriting(locker: Locker, videoId: string): Promise<void> {
  const lock = locker.newLock(videoId);
  await lock.lock(new AbortController().signal, () => {});
  await lock.unlock();
}
