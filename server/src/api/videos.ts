import { OPERATIONS } from "@subtext/client/contract/operations";
import { DEFAULT_UPLOAD_URL_SECONDS } from "@subtext/client/contract/video";
import type { Locker } from "@tus/utils";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { isPlausibleId } from "../lib/ids.ts";
import type { Queue } from "../queue/queue.ts";
import { serializeVideo } from "../resources/serializers.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import type { RunningAttempts } from "../transcription/running-attempts.ts";
import { type OfferDeps, offerUpload } from "../uploads/upload-offer.ts";
import { deleteVideo } from "../videos/delete-video.ts";
import { findTranscriptionsByVideo, listVideos, noSuchVideo } from "../videos/queries.ts";
import { type OperationDeps, serve, serveOnce, serveVideo } from "./operation.ts";

export interface VideosDeps extends OperationDeps, Omit<OfferDeps, "db"> {
  transcripts: TranscriptStore;
  recordings: RecordingStore;
  /** The lock of the upload endpoint. It prevents writes to a deleted video. */
  locker: Locker;
  queue: Queue;
  running: RunningAttempts;
  log: Logger;
}

export function registerVideos(app: FastifyInstance, deps: VideosDeps): void {
  const { db } = deps;

  serve(app, deps, OPERATIONS.listVideos, async ({ environmentId, query }) => {
    const { before, limit } = readPageRequest("video", query);
    const { transcriptionStatus = null } = query;
    const found = await listVideos(db, environmentId, { transcriptionStatus, before, limit: limit + 1 });
    const { rows, nextCursor } = cutPage(found, limit);
    const transcriptions = await findTranscriptionsByVideo(
      db,
      rows.map(({ id }) => id),
    );
    return { data: rows.map((row) => serializeVideo(row, transcriptions.get(row.id))), nextCursor };
  });

  serveOnce(app, deps, OPERATIONS.createVideo, async ({ environmentId, body, tx, request }) => {
    const { sizeBytes, filename, expiresInSeconds = DEFAULT_UPLOAD_URL_SECONDS } = body;
    const metadata = { ...body.metadata, ...(filename !== undefined && { filename }) };
    const wanted = { environmentId, metadata, sizeBytes, expiresInSeconds };
    const { row, upload } = await offerUpload({ ...deps, db: tx }, wanted);
    request.log.info({ videoId: row.id, bytes: sizeBytes }, "upload URL issued");
    return { video: serializeVideo(row, undefined), upload };
  });

  serveVideo(app, deps, OPERATIONS.getVideo, async ({ video }) => serializeVideo(video, video.transcription));

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
