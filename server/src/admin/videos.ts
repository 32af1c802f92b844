import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { countVideosByState } from "../db/counts.ts";
import { VIDEO_STATES, type VideoState } from "../db/enums.ts";
import { waitsForModel } from "../db/model-waits.ts";
import type { Db, TranscriptionRow, VideoRow } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { cutPage, readPageRequest } from "../http/cursor.ts";
import { representVideo } from "../resources/resources.ts";
import { listVideosInState, queuePlaces } from "../videos/list-queries.ts";
import { transcriptionsOfVideos } from "../videos/queries.ts";
import {
  COUNTED_VIDEOS,
  type VideoCountsView,
  type VideoPageView,
  type VideoView,
} from "./contract/video.ts";
import type { UploadSizes } from "./uploaded-bytes.ts";
import { viewTranscriptionSummary } from "./views.ts";

const Query = Type.Object({
  state: Type.Optional(Type.Enum(VIDEO_STATES)),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});

export interface VideoListDeps {
  db: Db;
  uploadSizes: UploadSizes;
}

export function registerVideos(app: FastifyInstance, deps: VideoListDeps): void {
  const { db } = deps;

  app.get<{ Params: { environment: string }; Querystring: Static<typeof Query> }>(
    "/environments/:environment/videos",
    { schema: { querystring: Query } },
    async (request): Promise<VideoPageView> => {
      const environment = await getEnvironment(db, request.params.environment);
      const { before, limit } = readPageRequest(request.query);
      const { state = null } = request.query;
      const found = await listVideosInState(db, environment.id, { state, before, limit: limit + 1 });
      const { rows, nextCursor } = cutPage(found, limit);
      return { data: await viewVideos(deps, rows), nextCursor };
    },
  );

  app.get<{ Params: { environment: string } }>(
    "/environments/:environment/video-counts",
    async (request): Promise<VideoCountsView> => {
      const environment = await getEnvironment(db, request.params.environment);
      return await countVideosByState(db, environment.id, COUNTED_VIDEOS);
    },
  );
}

type QueuePlaces = Awaited<ReturnType<typeof queuePlaces>>;

/**
 * The rows with what else is known of them: transcription, bytes that have come, place in the queue.
 * @param knownPlaces where they were read a moment ago
 */
export async function viewVideos(
  { db, uploadSizes }: VideoListDeps,
  rows: VideoRow[],
  knownPlaces?: QueuePlaces,
): Promise<VideoView[]> {
  const transcriptions = await transcriptionsOfVideos(
    db,
    rows.map(({ id }) => id),
  );
  const waits = [...transcriptions.values()].some(({ status }) => status === "PENDING");
  const places = knownPlaces ?? (waits ? await queuePlaces(db) : null);
  return await Promise.all(
    rows.map(async (row) =>
      viewVideo(row, {
        transcription: transcriptions.get(row.id),
        uploadedBytes: row.uploaded_at === null ? await uploadSizes.of(row.id) : null,
        queuePlace: places?.get(row.id)?.place ?? null,
      }),
    ),
  );
}

export function viewVideo(
  row: VideoRow,
  known: {
    transcription: TranscriptionRow | undefined;
    uploadedBytes: number | null;
    queuePlace: number | null;
  },
): VideoView {
  const { transcription, uploadedBytes, queuePlace } = known;
  const { id, environmentId, filename, sizeBytes, createdAt, uploadedAt } = representVideo(
    row,
    transcription,
  );
  return {
    id,
    environmentId,
    state: stateOf(row, transcription),
    filename,
    sizeBytes,
    uploadedBytes,
    createdAt,
    uploadedAt,
    transcription: transcription ? viewTranscriptionSummary(transcription) : null,
    queuePlace: transcription?.status === "PENDING" ? queuePlace : null,
    waitsFor: transcription && waitsForModel(transcription) ? "model" : null,
  };
}

function stateOf(row: VideoRow, transcription: TranscriptionRow | undefined): VideoState {
  if (row.uploaded_at === null) return "uploading";
  return transcription ? STATES[transcription.status] : "untranscribed";
}

const STATES = {
  PENDING: "pending",
  PROCESSING: "processing",
  COMPLETED: "completed",
  FAILED: "failed",
  SKIPPED: "skipped",
} as const;
