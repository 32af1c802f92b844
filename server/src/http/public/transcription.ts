import { OPERATIONS } from "@subtext/client/contract/operations";
import type { FastifyInstance } from "fastify";
import { findTranscriptionAndMetadata } from "../../db/transcriptions.ts";
import { AppError } from "../../errors.ts";
import { isPlausibleId } from "../../ids.ts";
import { representTranscription } from "../../representations.ts";
import type { Storage } from "../../storage/storage.ts";
import { type OperationDeps, serve } from "./operation.ts";
import { getVideo } from "./videos.ts";

/** Seconds after which a client that polls may ask again. */
const POLL_AFTER_SECONDS = 2;

export function registerTranscription(
  app: FastifyInstance,
  deps: OperationDeps & { storage: Storage },
): void {
  const { db, storage, clock } = deps;
  serve(app, deps, OPERATIONS.getTranscription, async ({ environmentId, params, reply }) => {
    const { videoId } = params;
    const row = isPlausibleId(videoId)
      ? await findTranscriptionAndMetadata(db, { environmentId, videoId })
      : undefined;
    if (!row) {
      const video = await getVideo(db, environmentId, videoId);
      throw new AppError(
        "transcription_not_found",
        video.uploaded_at
          ? "AI Transcription was off when this video finished uploading."
          : "This video has not finished uploading.",
      );
    }
    if (row.status === "PENDING" || row.status === "PROCESSING") {
      reply.header("retry-after", String(POLL_AFTER_SECONDS));
    }
    return await representTranscription(row, {
      storage,
      now: clock.now(),
      videoMetadata: row.video_metadata,
    });
  });
}
