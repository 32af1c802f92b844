import { recordVideoEvent } from "../../audit/audit-events.ts";
import type { Db } from "../../db/schema.ts";
import type { TranscriptionRow } from "../../db/tables/transcriptions.ts";
import { getEnvironment } from "../../environments/environments.ts";
import { AppError } from "../../lib/errors.ts";
import { isPlausibleId } from "../../lib/ids.ts";
import { type CancelDeps, cancelTranscription } from "../../transcription/cancel.ts";
import {
  findTranscription,
  findTranscriptionByVideo,
  listTranscriptions,
} from "../../transcription/queries.ts";
import { reprocess } from "../../transcription/reprocess.ts";
import { findVideo } from "../../videos/queries.ts";
import { type QueueCapacity, type QueuePosition, queuePositions } from "../../videos/queue-positions.ts";
import { listTranscriptionEvents } from "../../webhooks/queries.ts";
import { type Actor, roleIn } from "../access.ts";
import type { QueueView, TranscriptionView } from "../contract/transcription.ts";
import { defineHandlers } from "../operation.ts";
import { toTranscriptionSummaryView, toTranscriptionView } from "../serializers.ts";

const LATEST_TRANSCRIPTIONS = 50;

export interface TranscriptionDeps extends CancelDeps {
  capacity: QueueCapacity;
}

export function transcriptionHandlers(deps: TranscriptionDeps) {
  const { db, clock } = deps;
  return defineHandlers({
    "GET /environments/:environment/transcriptions": async ({ params, query: { status = null } }) => {
      const environment = await getEnvironment(db, params.environment);
      const rows = await listTranscriptions(db, environment.id, { status, limit: LATEST_TRANSCRIPTIONS });
      const positions = await positionsOf(deps, rows);
      return {
        data: rows.map((row) => ({
          ...toTranscriptionSummaryView(row),
          ...toQueueView(positions.get(row.video_id)),
        })),
      };
    },

    "GET /transcriptions/:id": async ({ params: { id }, actor }) =>
      describe(deps, await getTranscription(db, id), actor),

    "POST /transcriptions/:id/reprocess": async ({ params, actor, auditActor, request }) => {
      const { id } = await getTranscription(db, params.id);
      const row = await reprocess(deps, id, (tx, { environment_id, video_id }) =>
        recordVideoEvent({ tx, clock }, auditActor, "transcription.reprocessed", {
          environmentId: environment_id,
          videoId: video_id,
        }),
      );
      request.log.info({ transcriptionId: id }, "transcription reopened by an operator");
      return await describe(deps, row, actor);
    },

    "POST /transcriptions/:id/cancel": async ({ params, actor, auditActor, request }) => {
      const { id } = await getTranscription(db, params.id);
      const row = await cancelTranscription(deps, id, (tx, { environment_id, video_id }) =>
        recordVideoEvent({ tx, clock }, auditActor, "transcription.canceled", {
          environmentId: environment_id,
          videoId: video_id,
        }),
      );
      request.log.info({ transcriptionId: id }, "transcription canceled by an operator");
      return await describe(deps, row, actor);
    },
  });
}

async function describe(
  deps: TranscriptionDeps,
  row: TranscriptionRow,
  actor: Actor,
): Promise<TranscriptionView> {
  const { db } = deps;
  const video = await findVideo(db, row.video_id);
  if (!video) throw new AppError("transcription_not_found", "The video was deleted in the meantime.");
  // Editors are not allowed to see webhooks.
  const events =
    roleIn(actor, row.environment_id) === "editor" ? [] : await listTranscriptionEvents(db, row.id);
  const positions = await positionsOf(deps, [row]);
  return { ...toTranscriptionView(row, { video, events }), ...toQueueView(positions.get(row.video_id)) };
}

async function positionsOf(
  { db, capacity }: TranscriptionDeps,
  rows: TranscriptionRow[],
): Promise<ReadonlyMap<string, QueuePosition>> {
  return rows.some(({ status }) => status === "PENDING") ? await queuePositions(db, capacity) : new Map();
}

function toQueueView(queued: QueuePosition | undefined): QueueView {
  return { queuePosition: queued?.position ?? null, startsInSeconds: queued?.startsInSeconds ?? null };
}

async function getTranscription(db: Db, id: string): Promise<TranscriptionRow> {
  const row = isPlausibleId(id)
    ? ((await findTranscription(db, id)) ?? (await findTranscriptionByVideo(db, id)))
    : undefined;
  if (row) return row;
  const video = isPlausibleId(id) ? await findVideo(db, id) : undefined;
  if (video && !video.uploaded_at) {
    throw new AppError(
      "upload_incomplete",
      "The video has no transcription yet: its upload has not finished.",
    );
  }
  throw new AppError(
    "transcription_not_found",
    video === undefined
      ? "There is no transcription or video with this ID."
      : "The video has no transcription: AI Transcription was off when its upload finished.",
  );
}
