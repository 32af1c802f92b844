import type { Db } from "../db/schema.ts";
import { lockAiTranscription } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
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
  /** Told of each upload that is to be transcribed, once that is committed. */
  onAccepted?: (accepted: AcceptedReport) => void;
}

/**
 * Takes in a finished upload, once: the completion, the toggle's value at that moment and, where it is on,
 * the PENDING transcription with its job become true together. Safe to call again at any time, which tus
 * servers do and the sweep does too.
 * @returns whether this call was the one that took it in
 */
export async function acceptUpload(
  { db, queue, clock, onAccepted }: AcceptDeps,
  upload: { videoId: string; sizeBytes: number },
): Promise<boolean> {
  const uploadedAt = clock.now();
  const taken = await db.transaction().execute(async (tx) => {
    const video = await lockOpenUpload(tx, upload.videoId);
    if (!video) return null;
    const now = clock.now();
    const aiTranscription = await lockAiTranscription(tx, video.environment_id);
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
  if (taken?.transcriptionId) {
    const { video, transcriptionId } = taken;
    onAccepted?.({
      ...upload,
      transcriptionId,
      createdAt: video.created_at,
      uploadedAt,
      acceptedAt: clock.now(),
    });
  }
  return taken !== null;
}
