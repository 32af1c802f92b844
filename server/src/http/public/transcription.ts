import { Transcription } from "@subtext/client/contract/transcription";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../../clock.ts";
import type { Db } from "../../db/schema.ts";
import { findTranscriptionOfVideo } from "../../db/transcriptions.ts";
import { findVideo } from "../../db/videos.ts";
import { AppError } from "../../errors.ts";
import { isPlausibleId } from "../../ids.ts";
import { representTranscription } from "../../representations.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Authorize } from "../authorize.ts";

/** Seconds after which a client that polls may ask again. */
const POLL_AFTER_SECONDS = 2;

export function registerTranscription(
  app: FastifyInstance,
  { db, storage, clock, authorize }: { db: Db; storage: Storage; clock: Clock; authorize: Authorize },
): void {
  app.get<{ Params: { videoId: string } }>(
    "/api/v1/videos/:videoId/transcription",
    { schema: { response: { 200: Transcription } } },
    async (request, reply) => {
      const { environmentId } = await authorize(request, reply);
      const { videoId } = request.params;
      const video = isPlausibleId(videoId) ? await findVideo(db, videoId) : undefined;
      if (video?.environment_id !== environmentId) {
        throw new AppError("video_not_found", "This environment has no video with this id.");
      }
      const row = await findTranscriptionOfVideo(db, video.id);
      if (!row) {
        throw new AppError(
          "transcription_not_found",
          video.uploaded_at
            ? "AI Transcription was off when this video finished uploading."
            : "This video has not finished uploading.",
        );
      }
      reply.header("cache-control", "no-store");
      if (row.status === "PENDING" || row.status === "PROCESSING") {
        reply.header("retry-after", String(POLL_AFTER_SECONDS));
      }
      return await representTranscription(row, {
        storage,
        now: clock.now(),
        videoMetadata: video.metadata,
      });
    },
  );
}
