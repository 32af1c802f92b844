import { OPERATIONS } from "@subtext/client/contract/operations";
import type { FastifyInstance } from "fastify";
import type { PublicTranscription, VideoWithTranscription } from "../api-keys/key-and-video-queries.ts";
import {
  type CorrectionDeps,
  prepareCorrection,
  readCurrentWords,
  requireCompleted,
} from "../corrections/correct.ts";
import { wordsEtag } from "../corrections/etag.ts";
import { AppError } from "../lib/errors.ts";
import { serializeTranscription } from "../resources/serializers.ts";
import { type OperationDeps, serveVideo, serveVideoOnce } from "./operation.ts";

const POLL_AFTER_SECONDS = 2;

export function registerTranscription(app: FastifyInstance, deps: OperationDeps & CorrectionDeps): void {
  const { transcripts, clock } = deps;
  serveVideo(app, deps, OPERATIONS.getTranscription, async ({ video, reply }) => {
    const transcription = transcriptionOf(video);
    if (transcription.status === "PENDING" || transcription.status === "PROCESSING") {
      reply.header("retry-after", String(POLL_AFTER_SECONDS));
    }
    return await serializeTranscription(transcription, {
      transcripts,
      now: clock.now(),
      videoMetadata: video.metadata,
    });
  });

  serveVideo(app, deps, OPERATIONS.getTranscriptWords, async ({ video, reply }) => {
    const row = requireCompleted(transcriptionOf(video));
    const etag = wordsEtag(row);
    reply.header("etag", etag);
    return { etag, revision: row.revision, words: await readCurrentWords(transcripts, row) };
  });

  serveVideoOnce(
    app,
    deps,
    OPERATIONS.updateTranscriptWords,
    async ({ video, body, request, auditActor }) => {
      const row = requireCompleted(transcriptionOf(video));
      const prepared = await prepareCorrection(deps, row, body, {
        ifMatch: request.headers["if-match"],
        actor: auditActor,
        actorName: auditActor.name,
      });
      return prepared.commit;
    },
  );
}

function transcriptionOf({ transcription, uploaded_at }: VideoWithTranscription): PublicTranscription {
  if (transcription) return transcription;
  if (!uploaded_at) {
    throw new AppError("upload_incomplete", "This video has not finished uploading.", {
      headers: { "retry-after": String(POLL_AFTER_SECONDS) },
    });
  }
  throw new AppError(
    "transcription_not_found",
    "AI Transcription was off when this video finished uploading.",
  );
}
