import { OPERATIONS } from "@subtext/client/contract/operations";
import { DEFAULT_UPLOAD_URL_SECONDS } from "@subtext/client/contract/video";
import type { Locker } from "@tus/utils";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Db, VideoRow } from "../../db/schema.ts";
import { findTranscriptionOfVideo } from "../../db/transcriptions.ts";
import { findVideo, insertVideo, listVideos, transcriptionsOfVideos } from "../../db/videos.ts";
import { AppError } from "../../errors.ts";
import { isPlausibleId, newId } from "../../ids.ts";
import { requireRoomForUpload } from "../../limits.ts";
import { checkMetadata } from "../../metadata.ts";
import { deleteVideo } from "../../pipeline/delete-video.ts";
import type { RunningAttempts } from "../../pipeline/running-attempts.ts";
import { representVideo } from "../../representations.ts";
import type { Sources } from "../../storage/sources.ts";
import type { Storage } from "../../storage/storage.ts";
import type { UploadStore } from "../../storage/upload-store.ts";
import { cutPage, readPageRequest } from "./cursor.ts";
import { type OperationDeps, serve, serveOnce } from "./operation.ts";
import { signUploadUrl } from "./upload-url.ts";
import { UPLOADS_PATH } from "./uploads.ts";

export interface VideosDeps extends OperationDeps {
  storage: Storage;
  sources: Sources;
  store: UploadStore;
  /** The one that serves uploads, so that what is deleted is not written to. */
  locker: Locker;
  running: RunningAttempts;
  log: Logger;
  maxUploadBytes: number;
  /** Where clients reach the service. */
  publicUrl: string;
  /** Signs upload URLs. */
  secret: Uint8Array;
}

export function registerVideos(app: FastifyInstance, deps: VideosDeps): void {
  const { db, clock } = deps;

  serve(app, deps, OPERATIONS.listVideos, async ({ environmentId, query }) => {
    const { before, limit } = readPageRequest(query);
    const { transcriptionStatus = null } = query;
    const found = await listVideos(db, environmentId, { transcriptionStatus, before, limit: limit + 1 });
    const { rows, nextCursor } = cutPage(found, limit);
    const transcriptions = await transcriptionsOfVideos(
      db,
      rows.map(({ id }) => id),
    );
    return { data: rows.map((row) => representVideo(row, transcriptions.get(row.id))), nextCursor };
  });

  serveOnce(app, deps, OPERATIONS.createVideo, async ({ environmentId, body, tx, request }) => {
    const { sizeBytes, filename, expiresInSeconds = DEFAULT_UPLOAD_URL_SECONDS } = body;
    const metadata = { ...body.metadata, ...(filename !== undefined && { filename }) };
    checkMetadata(metadata, "Metadata");
    if (sizeBytes > deps.maxUploadBytes) {
      throw new AppError("payload_too_large", `An upload may have ${deps.maxUploadBytes} bytes.`);
    }
    await deps.store.requireSpace(sizeBytes);
    await requireRoomForUpload(tx, environmentId);
    const now = clock.now();
    const id = newId("video");
    // Its file is made by the first request that comes to the upload: a row may be without, a file not.
    const row = await insertVideo(tx, { id, environmentId, metadata, sizeBytes, now });
    request.log.info({ videoId: id, bytes: sizeBytes }, "upload URL given");
    const expires = Math.floor(now.getTime() / 1000) + expiresInSeconds;
    const signed = signUploadUrl({ videoId: id, expires }, deps.secret);
    return {
      video: representVideo(row, undefined),
      upload: {
        url: `${deps.publicUrl}${UPLOADS_PATH}/${id}?${signed}`,
        expiresAt: new Date(expires * 1000).toISOString(),
      },
    };
  });

  serve(app, deps, OPERATIONS.getVideo, async ({ environmentId, params }) => {
    const video = await getVideo(db, environmentId, params.videoId);
    return representVideo(video, await findTranscriptionOfVideo(db, video.id));
  });

  serve(app, deps, OPERATIONS.deleteVideo, async ({ environmentId, params, request }) => {
    const { videoId } = params;
    const deleted =
      isPlausibleId(videoId) &&
      (await deleteVideo({ ...deps, log: request.log }, { environmentId, videoId }));
    if (!deleted) throw noSuchVideo();
    request.log.info({ videoId }, "video deleted");
    return undefined;
  });
}

/**
 * A video of this environment.
 * @throws AppError `video_not_found`
 */
export async function getVideo(db: Db, environmentId: string, id: string): Promise<VideoRow> {
  const video = isPlausibleId(id) ? await findVideo(db, id) : undefined;
  if (video?.environment_id !== environmentId) throw noSuchVideo();
  return video;
}

function noSuchVideo(): AppError {
  return new AppError("video_not_found", "This environment has no video with this id.");
}
