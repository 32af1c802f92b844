import { OPERATIONS } from "@subtext/client/contract/operations";
import type { FastifyInstance } from "fastify";
import { AppError } from "../lib/errors.ts";
import { representTranscription } from "../resources/serializers.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { type OperationDeps, serveVideo } from "./operation.ts";

const POLL_AFTER_SECONDS = 2;

export function registerTranscription(
  app: FastifyInstance,
  deps: OperationDeps & { transcripts: TranscriptStore },
): void {
  const { transcripts, clock } = deps;
  serveVideo(app, deps, OPERATIONS.getTranscription, async ({ video, reply }) => {
    const { transcription, metadata } = video;
    if (!transcription && !video.uploaded_at) {
      throw new AppError("upload_incomplete", "This video has not finished uploading.", {
        headers: { "retry-after": String(POLL_AFTER_SECONDS) },
      });
    }
    if (!transcription) {
      throw new AppError(
        "transcription_not_found",
        "AI Transcription was off when this video finished uploading.",
      );
    }
    if (transcription.status === "PENDING" || transcription.status === "PROCESSING") {
      reply.header("retry-after", String(POLL_AFTER_SECONDS));
    }
    return await representTranscription(transcription, {
      transcripts,
      now: clock.now(),
      videoMetadata: metadata,
    });
  });
}
