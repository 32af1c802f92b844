import type { Db } from "../db/schema.ts";
import type { VideoRow } from "../db/tables/videos.ts";
import { AppError } from "../lib/errors.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import { isOutage } from "../lib/outages.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { type AcceptDeps, acceptUpload } from "../uploads/accept-upload.ts";
import { deleteExpiredUpload } from "../uploads/queries.ts";
import { deleteUpload } from "../uploads/upload-store.ts";
import { findVideo, listOpenUploads } from "../videos/queries.ts";

export interface UploadSweepDeps extends AcceptDeps, ItemDeps {
  recordings: RecordingStore;
  ownership: Pick<StoreOwnership, "state">;
  uploadExpiryMs: number;
}

const BATCH = 500;

/** Accepts complete uploads that a crash left unaccepted, and removes expired uploads. */
export async function sweepOpenUploads(deps: UploadSweepDeps, signal: AbortSignal): Promise<void> {
  const { db, ownership } = deps;
  const { isOwner } = await ownership.state();
  for await (const video of openUploads(db)) {
    if (signal.aborted) return;
    await guardItem(deps, { task: "open_uploads", videoId: video.id }, async () => {
      try {
        await sweepOpenUpload(deps, video, { mayDelete: isOwner });
      } catch (error) {
        // Ignores errors if the upload was deleted during the check.
        if (isOutage(error) || (await findVideo(db, video.id))) throw error;
      }
    });
  }
}

async function* openUploads(db: Db): AsyncGenerator<VideoRow> {
  let after: VideoRow | null = null;
  for (;;) {
    const batch: VideoRow[] = await listOpenUploads(db, { after, limit: BATCH });
    yield* batch;
    after = batch.at(-1) ?? null;
    if (batch.length < BATCH) return;
  }
}

async function sweepOpenUpload(
  deps: UploadSweepDeps,
  video: VideoRow,
  { mayDelete }: { mayDelete: boolean },
): Promise<void> {
  const { db, recordings, log, uploadExpiryMs } = deps;
  const file = await recordings.inspect(video.id);
  if (file !== null && file.sizeBytes === video.size_bytes) {
    await recordings.sync(video.id);
    const isRefused = await acceptOrRefuse(deps, { videoId: video.id, sizeBytes: file.sizeBytes });
    if (!isRefused || !mayDelete) return;
    await deleteUpload(db, recordings, video.id);
    log.info({ videoId: video.id }, "a copy was removed, because AI Transcription is off");
    return;
  }
  if (!mayDelete) return;
  // The row is deleted first. If the file remains after a crash, a later sweep removes it.
  if (await deleteExpiredUpload(db, video.id, uploadExpiryMs)) {
    await recordings.remove(video.id);
    log.info({ videoId: video.id }, "an expired upload was removed");
  }
}

/** Returns true if the upload is a copy of a video that must not be accepted, because AI Transcription is off. */
async function acceptOrRefuse(
  deps: UploadSweepDeps,
  upload: { videoId: string; sizeBytes: number },
): Promise<boolean> {
  try {
    if (await acceptUpload(deps, upload)) {
      deps.log.info({ videoId: upload.videoId }, "the sweep accepted a finished upload");
    }
    return false;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "ai_transcription_off") throw error;
    return true;
  }
}
