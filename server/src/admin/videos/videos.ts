import { DEFAULT_PAGE_SIZE } from "@subtext/client/contract/page";
import type { VideoState } from "../../db/enums.ts";
import type { Db } from "../../db/schema.ts";
import type { TranscriptionRow } from "../../db/tables/transcriptions.ts";
import type { VideoRow } from "../../db/tables/videos.ts";
import { getEnvironment } from "../../environments/environments.ts";
import { serializeVideo } from "../../resources/serializers.ts";
import { waitsForModel } from "../../transcription/model-wait-queries.ts";
import { type OfferDeps, offerUpload } from "../../uploads/upload-offer.ts";
import { countVideosByState } from "../../videos/list-queries.ts";
import { listFilterValues, listMatchingVideos } from "../../videos/list-view.ts";
import { findTranscriptionsByVideo, getVideo } from "../../videos/queries.ts";
import { type QueueCapacity, type QueuePosition, queuePositions } from "../../videos/queue-positions.ts";
import { MAX_COUNTED_VIDEOS, type VideoView } from "../contract/video.ts";
import { defineHandlers } from "../operation.ts";
import { toPosterView, toTranscriptionSummaryView } from "../serializers.ts";
import type { UploadedBytes } from "../uploaded-bytes.ts";
import { decodePosition, encodePosition, readFilter } from "./list-request.ts";

export interface VideoListDeps {
  db: Db;
  uploadedBytes: UploadedBytes;
  capacity: QueueCapacity;
}

export interface UploadDeps extends OfferDeps {
  db: Db;
}

/** Limits only the start of an upload. Once started, an upload may take longer. */
const UPLOAD_START_TIMEOUT_SECONDS = 3600;

export function videoHandlers(deps: VideoListDeps & UploadDeps) {
  const { db } = deps;
  return defineHandlers({
    "GET /environments/:environment/videos": async ({ params, query }) => {
      const environment = await getEnvironment(db, params.environment);
      const { sort: by = "uploaded", order: direction = "desc", limit = DEFAULT_PAGE_SIZE } = query;
      const found = await listMatchingVideos(db, environment.id, {
        filter: readFilter(query),
        order: { by, direction },
        after: query.cursor === undefined ? null : decodePosition(query.cursor, by),
        limit: limit + 1,
      });
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return {
        data: await toVideoViews(deps, rows),
        nextCursor: last ? encodePosition(last.position) : null,
      };
    },

    "GET /environments/:environment/video-filters": async ({ params }) => {
      const environment = await getEnvironment(db, params.environment);
      return await listFilterValues(db, environment.id);
    },

    "GET /environments/:environment/video-counts": async ({ params }) => {
      const environment = await getEnvironment(db, params.environment);
      return await countVideosByState(db, environment.id, MAX_COUNTED_VIDEOS);
    },

    // The session authorizes only the creation. The browser then uploads the bytes to the signed URL.
    "POST /environments/:environment/videos": async ({ params, body, request }) => {
      const environment = await getEnvironment(db, params.environment);
      const { filename, sizeBytes } = body;
      const { row, upload } = await offerUpload(deps, {
        environmentId: environment.id,
        metadata: { filename },
        sizeBytes,
        expiresInSeconds: UPLOAD_START_TIMEOUT_SECONDS,
      });
      request.log.info({ videoId: row.id, bytes: sizeBytes }, "upload URL issued to an operator");
      return {
        video: toVideoView(row, { transcription: undefined, uploadedBytes: 0, queued: null }),
        upload,
      };
    },
  });
}

/** @throws AppError `environment_not_found`, `video_not_found` */
export async function getVideoFromParams(
  db: Db,
  params: { environment: string; video: string },
): Promise<VideoRow> {
  const environment = await getEnvironment(db, params.environment);
  return await getVideo(db, environment.id, params.video);
}

/**
 * Reads the transcriptions, uploaded bytes and queue positions of videos.
 * @param knownPositions queue positions that the caller has already read
 */
export async function toVideoViews(
  { db, uploadedBytes, capacity }: VideoListDeps,
  rows: VideoRow[],
  knownPositions?: ReadonlyMap<string, QueuePosition>,
): Promise<VideoView[]> {
  const transcriptions = await findTranscriptionsByVideo(
    db,
    rows.map(({ id }) => id),
  );
  const waits = [...transcriptions.values()].some(({ status }) => status === "PENDING");
  const positions = knownPositions ?? (waits ? await queuePositions(db, capacity) : null);
  return await Promise.all(
    rows.map(async (row) =>
      toVideoView(row, {
        transcription: transcriptions.get(row.id),
        uploadedBytes: row.uploaded_at === null ? await uploadedBytes.of(row.id) : null,
        queued: positions?.get(row.id) ?? null,
      }),
    ),
  );
}

export function toVideoView(
  row: VideoRow,
  known: {
    transcription: TranscriptionRow | undefined;
    uploadedBytes: number | null;
    queued: QueuePosition | null;
  },
): VideoView {
  const { transcription, uploadedBytes } = known;
  const queued = transcription?.status === "PENDING" ? known.queued : null;
  const { id, environmentId, filename, sizeBytes, createdAt, uploadedAt } = serializeVideo(
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
    transcription: transcription ? toTranscriptionSummaryView(transcription) : null,
    poster: transcription ? toPosterView(transcription) : null,
    queuePosition: queued?.position ?? null,
    startsInSeconds: queued?.startsInSeconds ?? null,
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
