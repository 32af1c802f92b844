import { TRANSCRIPTION_STATUSES } from "@subtext/client/contract/transcription";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { writeDownVideo } from "../audit/video-deeds.ts";
import type { Db, TranscriptionRow } from "../db/schema.ts";
import { findTranscription, findTranscriptionOfVideo, listTranscriptions } from "../db/transcriptions.ts";
import { getEnvironment } from "../environments/environments.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { reprocess } from "../pipeline/reprocess.ts";
import type { Queue } from "../queue/queue.ts";
import { findVideo } from "../videos/queries.ts";
import { listEventsOf } from "../webhooks/queries.ts";
import { authorOf } from "./author.ts";
import type { TranscriptionSummaryView } from "./contract/video.ts";
import { type TranscriptionView, viewTranscription, viewTranscriptionSummary } from "./views.ts";

const LATEST_TRANSCRIPTIONS = 50;

const Filter = Type.Object({ status: Type.Optional(Type.Enum(TRANSCRIPTION_STATUSES)) });

/** Wherever `:id` stands, the id of a transcription or of its video may be given. */
export function registerTranscriptions(
  app: FastifyInstance,
  { db, queue, clock }: { db: Db; queue: Queue; clock: Clock },
): void {
  app.get<{ Params: { environment: string }; Querystring: Static<typeof Filter> }>(
    "/environments/:environment/transcriptions",
    { schema: { querystring: Filter } },
    async (request): Promise<{ data: TranscriptionSummaryView[] }> => {
      const environment = await getEnvironment(db, request.params.environment);
      const { status = null } = request.query;
      const rows = await listTranscriptions(db, environment.id, { status, limit: LATEST_TRANSCRIPTIONS });
      return { data: rows.map(viewTranscriptionSummary) };
    },
  );

  app.get<{ Params: { id: string } }>("/transcriptions/:id", async (request) =>
    describe(db, await getTranscription(db, request.params.id)),
  );

  app.post<{ Params: { id: string } }>("/transcriptions/:id/reprocess", async (request, reply) => {
    const { id } = await getTranscription(db, request.params.id);
    const row = await reprocess({ db, queue, clock }, id, (tx, { environment_id, video_id }) =>
      writeDownVideo({ tx, clock }, authorOf(request), "transcription.reprocessed", {
        environmentId: environment_id,
        videoId: video_id,
      }),
    );
    request.log.info({ transcriptionId: id }, "transcription reopened by an operator");
    reply.code(202);
    return await describe(db, row);
  });
}

async function describe(db: Db, row: TranscriptionRow): Promise<TranscriptionView> {
  const video = await findVideo(db, row.video_id);
  if (!video) throw new AppError("transcription_not_found", "The video was deleted a moment ago.");
  return viewTranscription(row, { video, events: await listEventsOf(db, row.id) });
}

/** @throws AppError `transcription_not_found`, `upload_incomplete` */
async function getTranscription(db: Db, id: string): Promise<TranscriptionRow> {
  const row = isPlausibleId(id)
    ? ((await findTranscription(db, id)) ?? (await findTranscriptionOfVideo(db, id)))
    : undefined;
  if (row) return row;
  const video = isPlausibleId(id) ? await findVideo(db, id) : undefined;
  if (video && !video.uploaded_at) {
    throw new AppError("upload_incomplete", "The video has none yet: it has not finished uploading.");
  }
  throw new AppError(
    "transcription_not_found",
    video === undefined
      ? "There is no transcription and no video with this id."
      : "The video has none: AI Transcription was off when it finished uploading.",
  );
}
