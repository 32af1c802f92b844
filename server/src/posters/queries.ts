import type { Db, Tx } from "../db/schema.ts";

export interface PosterJob {
  transcriptionId: string;
  jobId: string;
}

export interface UnfinishedPoster {
  videoId: string;
  attempt: number;
  /** Seconds; null if unknown. */
  duration: number | null;
  waveformPrefix: string | null;
  /** False if retention deleted the recording. */
  hasRecording: boolean;
}

/** Returns undefined if the job has nothing to do. */
export async function findUnfinishedPoster(
  db: Db,
  { transcriptionId, jobId }: PosterJob,
): Promise<UnfinishedPoster | undefined> {
  const row = await db
    .selectFrom("transcription")
    .innerJoin("video", "video.id", "transcription.video_id")
    .select(["video_id", "attempt", "duration", "waveform_prefix", "recording_deleted_at"])
    .where("transcription.id", "=", transcriptionId)
    .where("poster_job_id", "=", jobId)
    .where("poster_ended_at", "is", null)
    .executeTakeFirst();
  return (
    row && {
      videoId: row.video_id,
      attempt: row.attempt,
      duration: row.duration,
      waveformPrefix: row.waveform_prefix,
      hasRecording: row.recording_deleted_at === null,
    }
  );
}

/** Returns false if another job took over, or if retention deleted the recording in the meantime. */
export async function finishPoster(
  db: Db,
  { transcriptionId, jobId }: PosterJob,
  { prefix, levels, now }: { prefix: string | null; levels: string | null; now: Date },
): Promise<boolean> {
  const row = await db
    .updateTable("transcription")
    .set({ poster_ended_at: now, poster_prefix: prefix, poster_levels: levels })
    .where("id", "=", transcriptionId)
    .where("poster_job_id", "=", jobId)
    .where("poster_ended_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Also returns true if the whole video was deleted. */
export async function isRecordingDeleted(db: Db, videoId: string): Promise<boolean> {
  const row = await db
    .selectFrom("video")
    .select("recording_deleted_at")
    .where("id", "=", videoId)
    .executeTakeFirst();
  return row === undefined || row.recording_deleted_at !== null;
}

/**
 * Assigns a job that recreates a missing poster. The caller enqueues it in the same transaction.
 * @param prefix key prefix of the missing poster
 * @returns false if the row no longer references that poster
 */
export async function recreatePoster(
  tx: Tx,
  { transcriptionId, jobId }: PosterJob,
  prefix: string,
): Promise<boolean> {
  const row = await tx
    .updateTable("transcription")
    .set({ poster_job_id: jobId, poster_ended_at: null, poster_prefix: null })
    .where("id", "=", transcriptionId)
    .where("poster_prefix", "=", prefix)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
