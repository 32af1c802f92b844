import type { Db } from "../db/schema.ts";
import { lockAiTranscription } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { newJobId, type Queue } from "../queue/queue.ts";
import { enqueue } from "../queue/transcription-jobs.ts";
import { insertPendingTranscription } from "../transcription/queries.ts";
import { completeUpload, lockOpenUpload } from "../videos/queries.ts";
import type { AcceptedReport } from "./accepted-report.ts";

export interface AcceptDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  /** Called after the commit for each upload that will be transcribed. */
  onAccepted?: (accepted: AcceptedReport) => void;
}

/**
 * Accepts a finished upload, once. One transaction records the completion, reads the AI Transcription toggle and, if it
 * is on, inserts a PENDING transcription and its job. Both the tus server and the sweep may call this.
 * @returns whether this call accepted the upload
 * @throws AppError `ai_transcription_off` for a copy of another video, which exists only to be transcribed
 */
export async function acceptUpload(
  { db, queue, clock, onAccepted }: AcceptDeps,
  upload: { videoId: string; sizeBytes: number },
): Promise<boolean> {
  const uploadedAt = clock.now();
  const accepted = await db.transaction().execute(async (tx) => {
    const video = await lockOpenUpload(tx, upload.videoId);
    if (!video) return null;
    const now = clock.now();
    const aiTranscription = await lockAiTranscription(tx, video.environment_id);
    if (video.source_video_id !== null && !aiTranscription) throw aiTranscriptionOff();
    await completeUpload(tx, video.id, { sizeBytes: upload.sizeBytes, aiTranscription, now });
    if (!aiTranscription) return { video, transcriptionId: null };

    const transcriptionId = newId("transcription");
    const jobId = newJobId();
    await insertPendingTranscription(tx, {
      id: transcriptionId,
      videoId: video.id,
      environmentId: video.environment_id,
      jobId,
      now,
    });
    await enqueue({ tx, queue }, { jobId, transcriptionId, environmentId: video.environment_id });
    return { video, transcriptionId };
  });
  if (accepted?.transcriptionId) {
    const { video, transcriptionId } = accepted;
    onAccepted?.({
      ...upload,
      transcriptionId,
      createdAt: video.created_at,
      uploadedAt,
      acceptedAt: clock.now(),
    });
  }
  return accepted !== null;
}

export function aiTranscriptionOff(): AppError {
  return new AppError(
    "ai_transcription_off",
    "AI Transcription is off in this environment. Turn it on first.",
  );
}
