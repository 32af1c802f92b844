import {
  MAX_TRANSCRIPT_BYTES,
  type SavedWords,
  type TranscriptWords,
  TranscriptWordsChange,
} from "@subtext/client/contract/transcript-words";
import { TRANSCRIPTION_STATUSES } from "@subtext/client/contract/transcription";
import { Type } from "typebox";
import { SORT_DIRECTIONS, VIDEO_SORTS, VIDEO_STATES } from "../../../db/enums.ts";
import { type BulkOperationView, MAX_SELECTED_VIDEOS, type VideoMatchesView } from "../bulk-operation.ts";
import { json, type OperationTable, RAW } from "../operation.ts";
import { SEARCH_LIMITS, type SearchPageView } from "../search.ts";
import type { RevisionView, RevisionWordsView } from "../transcript-words.ts";
import type { QueueView, TranscriptionView } from "../transcription.ts";
import {
  MAX_VIDEO_TEXT,
  type TranscriptionSummaryView,
  type UploadOfferView,
  type VideoCountsView,
  type VideoFilterValuesView,
  type VideoPageView,
  type VideoView,
} from "../video.ts";
import type { TranscriptWordsView, VideoDetailView, WaveformView } from "../video-detail.ts";
import { EDITORS, EVERY_ROLE } from "./callers.ts";
import { strict, WITHOUT_NUL } from "./schema-options.ts";

const VIDEO_FILTER = {
  state: Type.Optional(Type.Enum(VIDEO_STATES)),
  language: Type.Optional(Type.String({ pattern: "^[A-Za-z-]{2,20}$" })),
  failure: Type.Optional(Type.String({ pattern: "^[a-z_]{1,64}$" })),
  /** The upload began at this time or later. */
  from: Type.Optional(Type.String({ format: "date-time" })),
  /** The upload began before this time. */
  until: Type.Optional(Type.String({ format: "date-time" })),
  /** Part of a name or of other metadata, or a whole id. */
  text: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_VIDEO_TEXT, pattern: WITHOUT_NUL })),
};

const VIDEO_ID = "^[A-Za-z0-9_]{1,64}$";
/** Either listed videos, of which those of other environments are ignored, or all that match a filter. */
const VIDEO_SELECTION = Type.Union([
  Type.Object(
    {
      ids: Type.Array(Type.String({ pattern: VIDEO_ID }), { minItems: 1, maxItems: MAX_SELECTED_VIDEOS }),
    },
    strict,
  ),
  Type.Object({ matching: Type.Object(VIDEO_FILTER, strict) }, strict),
]);

export const VIDEO_OPERATIONS = {
  // Transcriptions: `:id` is the id of a transcription or of its video
  "GET /environments/:environment/transcriptions": {
    callers: EVERY_ROLE,
    query: Type.Object({ status: Type.Optional(Type.Enum(TRANSCRIPTION_STATUSES)) }),
    response: json<{ data: (TranscriptionSummaryView & QueueView)[] }>(),
  },
  "GET /transcriptions/:id": { callers: EVERY_ROLE, response: json<TranscriptionView>() },
  "POST /transcriptions/:id/reprocess": {
    callers: EDITORS,
    status: 202,
    response: json<TranscriptionView>(),
  },
  "POST /transcriptions/:id/cancel": { callers: EDITORS, response: json<TranscriptionView>() },

  // Videos
  "GET /environments/:environment/videos": {
    callers: EVERY_ROLE,
    query: Type.Object({
      ...VIDEO_FILTER,
      sort: Type.Optional(Type.Enum(VIDEO_SORTS)),
      order: Type.Optional(Type.Enum(SORT_DIRECTIONS)),
      // Contains the name of a video.
      cursor: Type.Optional(Type.String({ maxLength: 2000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    response: json<VideoPageView>(),
  },
  "GET /environments/:environment/video-filters": {
    callers: EVERY_ROLE,
    response: json<VideoFilterValuesView>(),
  },
  "GET /environments/:environment/video-counts": { callers: EVERY_ROLE, response: json<VideoCountsView>() },
  "POST /environments/:environment/videos": {
    callers: EDITORS,
    body: Type.Object(
      {
        filename: Type.String({ minLength: 1, maxLength: 1000 }),
        sizeBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      },
      strict,
    ),
    status: 201,
    response: json<UploadOfferView>(),
  },
  // Server-sent events. Has no HEAD route, because the response would never end.
  "GET /environments/:environment/videos/changes": { callers: EVERY_ROLE, noHead: true, response: RAW },
  "GET /environments/:environment/videos/:video": { callers: EVERY_ROLE, response: json<VideoDetailView>() },
  "DELETE /environments/:environment/videos/:video": {
    callers: EDITORS,
    status: 204,
    response: json<void>(),
  },
  "POST /environments/:environment/videos/:video/reprocess": {
    callers: EDITORS,
    status: 202,
    response: json<VideoDetailView>(),
  },
  "POST /environments/:environment/videos/:video/cancel": {
    callers: EDITORS,
    response: json<VideoDetailView>(),
  },
  /** Transcribes a copy of the recording as a new video, which the response describes. */
  "POST /environments/:environment/videos/:video/transcribe-as-new": {
    callers: EDITORS,
    status: 201,
    response: json<VideoView>(),
  },
  "GET /environments/:environment/videos/:video/media": {
    callers: EVERY_ROLE,
    noHead: true,
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "HEAD /environments/:environment/videos/:video/media": {
    callers: EVERY_ROLE,
    query: Type.Object({ download: Type.Optional(Type.String()) }),
    response: RAW,
  },
  "GET /environments/:environment/videos/:video/transcript": {
    callers: EVERY_ROLE,
    response: json<TranscriptWordsView>(),
  },
  "GET /environments/:environment/videos/:video/waveform": {
    callers: EVERY_ROLE,
    response: json<WaveformView>(),
  },
  "GET /environments/:environment/videos/:video/poster": { callers: EVERY_ROLE, response: RAW },
  "GET /environments/:environment/videos/:video/captions": { callers: EVERY_ROLE, response: RAW },
  "GET /environments/:environment/videos/:video/files/:format": { callers: EVERY_ROLE, response: RAW },
  /** The transcript with the names of its speakers. The files above do not contain them. */
  "GET /environments/:environment/videos/:video/speaker-files/:format": {
    callers: EVERY_ROLE,
    response: RAW,
  },

  // Corrections. The words have an ETag, which changes with each save.
  "GET /environments/:environment/videos/:video/words": {
    callers: EVERY_ROLE,
    response: json<TranscriptWords>(),
  },
  "PUT /environments/:environment/videos/:video/words": {
    callers: EDITORS,
    needsIfMatch: true,
    body: TranscriptWordsChange,
    maxBodyBytes: MAX_TRANSCRIPT_BYTES,
    response: json<SavedWords>(),
  },
  "GET /environments/:environment/videos/:video/revisions": {
    callers: EVERY_ROLE,
    response: json<{ data: RevisionView[] }>(),
  },
  "GET /environments/:environment/videos/:video/revisions/:revision": {
    callers: EVERY_ROLE,
    response: json<RevisionWordsView>(),
  },
  "POST /environments/:environment/videos/:video/revisions/:revision/restore": {
    callers: EDITORS,
    needsIfMatch: true,
    response: json<SavedWords>(),
  },

  // Actions on many videos
  "GET /environments/:environment/video-matches": {
    callers: EVERY_ROLE,
    query: Type.Object(VIDEO_FILTER),
    response: json<VideoMatchesView>(),
  },
  "GET /environments/:environment/bulk-operations": {
    callers: EVERY_ROLE,
    response: json<{ data: BulkOperationView[] }>(),
  },
  "POST /environments/:environment/bulk-operations": {
    callers: EDITORS,
    body: Type.Object({ kind: Type.Enum(["retry", "delete"]), videos: VIDEO_SELECTION }, strict),
    status: 202,
    response: json<BulkOperationView>(),
  },
  "POST /environments/:environment/bulk-operations/:operation/cancel": {
    callers: EDITORS,
    response: json<BulkOperationView>(),
  },
  // A selection can be too long for a URL, so a POST prepares the download of transcripts.
  "POST /environments/:environment/downloads": {
    callers: EVERY_ROLE,
    body: Type.Object({ videos: VIDEO_SELECTION }, strict),
    status: 201,
    response: json<BulkOperationView>(),
  },
  /** A ZIP file. Can be requested only once. */
  "GET /environments/:environment/downloads/:operation": {
    callers: EVERY_ROLE,
    noHead: true,
    response: RAW,
  },

  "GET /environments/:environment/search": {
    callers: EVERY_ROLE,
    query: Type.Object({
      q: Type.String({ maxLength: SEARCH_LIMITS.characters }),
      language: Type.Optional(Type.String({ pattern: "^[a-z]{2,3}$" })),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    }),
    response: json<SearchPageView>(),
  },
} as const satisfies OperationTable;
