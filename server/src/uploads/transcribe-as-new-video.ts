import type { Tx } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { requireRoomForUpload } from "../environments/limits.ts";
import { findEnvironment } from "../environments/queries.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { findTranscriptionByVideo, lockRecording } from "../transcription/queries.ts";
import { findVideo, insertVideo, noSuchVideo } from "../videos/queries.ts";
import { type AcceptDeps, acceptUpload, aiTranscriptionOff } from "./accept-upload.ts";
import { deleteUpload } from "./upload-store.ts";

export interface NewVideoDeps extends AcceptDeps {
  recordings: RecordingStore;
  maxUploadBytes: number;
}

/**
 * Creates a video with a copy of another video's recording, and accepts it like any upload. After a crash, the sweep of
 * uploads accepts a complete copy and removes an incomplete one.
 * @param inTransaction runs in the transaction that inserts the new video
 * @throws AppError `ai_transcription_off`, `recording_deleted`, `video_not_finished`, `video_not_found`,
 *   `open_upload_limit_reached`; the errors of `RecordingStore`
 */
export async function transcribeAsNewVideo(
  deps: NewVideoDeps,
  source: VideoRow,
  inTransaction: (tx: Tx, row: VideoRow) => Promise<unknown> = async () => {},
): Promise<VideoRow> {
  const { db, recordings } = deps;
  const created = await db.transaction().execute(async (tx) => {
    const row = await insertCopy(tx, deps, source);
    await inTransaction(tx, row);
    return row;
  });
  try {
    await recordings.copy(source.id, created.id);
    await recordings.sync(created.id);
    await acceptUpload(deps, { videoId: created.id, sizeBytes: source.size_bytes ?? 0 });
  } catch (error) {
    await deleteUpload(db, recordings, created.id).catch(() => {
      // The sweep removes it after the upload expires.
    });
    const now = await findVideo(db, source.id);
    if (!now) throw noSuchVideo();
    if (now.recording_deleted_at !== null) throw recordingDeleted();
    throw error;
  }
  const accepted = await findVideo(db, created.id);
  if (!accepted) throw noSuchVideo();
  return accepted;
}

/** Inserts the row before the copy exists, because the sweep treats a file without a row as unknown. */
async function insertCopy(
  tx: Tx,
  { clock, maxUploadBytes }: NewVideoDeps,
  source: VideoRow,
): Promise<VideoRow> {
  const { id, environment_id: environmentId, metadata, size_bytes: sizeBytes } = source;
  const deletedAt = await lockRecording(tx, id);
  if (deletedAt === undefined) throw noSuchVideo();
  if (deletedAt !== null) throw recordingDeleted();
  const transcription = await findTranscriptionByVideo(tx, id);
  const isUnfinished = transcription?.status === "PENDING" || transcription?.status === "PROCESSING";
  if (source.uploaded_at === null || isUnfinished) {
    throw new AppError(
      "video_not_finished",
      "Wait until the video is uploaded and its transcription has ended.",
    );
  }
  const environment = await findEnvironment(tx, environmentId);
  if (!environment?.ai_transcription) throw aiTranscriptionOff();
  await requireRoomForUpload(tx, environmentId, { sizeBytes: sizeBytes ?? 0, maxUploadBytes });
  return await insertVideo(tx, {
    id: newId("video"),
    environmentId,
    metadata,
    sizeBytes,
    sourceVideoId: id,
    now: clock.now(),
  });
}

function recordingDeleted(): AppError {
  return new AppError("recording_deleted", "The recording was deleted when its retention period ended.");
}
