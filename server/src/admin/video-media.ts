import { buffer } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import type { Db } from "../db/schema.ts";
import { sendFile } from "../http/send-file.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { representVideo } from "../resources/resources.ts";
import { contentDisposition, DOWNLOAD_TYPE } from "../storage/content-disposition.ts";
import type { Sources } from "../storage/recording-store.ts";
import { mediaType, TELLING_BYTES } from "../videos/media-type.ts";
import { findVideoOf, VIDEO_PATH, type VideoParams } from "./video-address.ts";

/** A player asks for parts of the recording as long as it is open, at the URL that it was sent to first. */
const MEDIA_URL_LIFETIME_SECONDS = 12 * 3600;

/** `…/media`: the recording, for the player of signed-in operators; with `?download`, to be saved as a file. */
export function registerVideoMedia(
  app: FastifyInstance,
  { db, sources, clock }: { db: Db; sources: Sources; clock: Clock },
): void {
  app.route<VideoParams & { Querystring: { download?: string } }>({
    method: ["GET", "HEAD"],
    url: `${VIDEO_PATH}/media`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const video = await findVideoOf(db, request.params);
      if (video.uploaded_at === null) {
        throw new AppError("storage_object_missing", "The video has not finished uploading.");
      }
      if (video.recording_deleted_at !== null) {
        throw new AppError(
          "recording_deleted",
          "The recording was deleted for its age, as the settings say.",
        );
      }
      const isDownload = request.query.download !== undefined;
      const contentType = (!isDownload && (await typeOfRecording(sources, video.id))) || DOWNLOAD_TYPE;
      const fileName = representVideo(video, undefined).filename ?? video.id;
      // A presigned URL is for one method.
      if (request.method === "GET") {
        const presigned = await sources.presign(video.id, {
          contentType,
          fileName,
          lifetimeSeconds: MEDIA_URL_LIFETIME_SECONDS,
          now: clock.now(),
        });
        if (presigned) return await reply.redirect(presigned.url, 302);
      }
      return await sendFile(request, reply, await sources.openFile(video.id), {
        contentType,
        contentDisposition: contentDisposition(fileName, contentType),
        cacheControl: "private, no-cache",
      });
    },
  });
}

/**
 * Null for what is no recording known here.
 * @throws AppError `storage_object_missing`, `storage_unavailable`
 */
export async function typeOfRecording(sources: Sources, videoId: string): Promise<string | null> {
  const file = await sources.openFile(videoId);
  if (file.size === 0) {
    await file.close();
    return null;
  }
  return mediaType(await buffer(file.stream({ start: 0, end: Math.min(TELLING_BYTES, file.size) - 1 })));
}
