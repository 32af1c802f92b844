import { type Static, Type } from "typebox";
import { PAGE_QUERY, pageOf } from "./page.ts";
import { SkipReason, TRANSCRIPTION_STATUSES, Transcription, TranscriptionFailure } from "./transcription.ts";
import { nullable, oneOf, timestamp } from "./values.ts";

export const VideoMetadata = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  $id: "VideoMetadata",
  description:
    "Metadata sent with the upload (tus `Upload-Metadata`, or `metadata` of `POST /api/v1/videos`); null for a key without a value",
});

export const VIDEO_STATUSES = ["uploading", "uploaded"] as const;

const { id, status, language, wordCount, duration, createdAt, completedAt } = Transcription.properties;

/** A transcription as part of its video. It has no files, because file URLs expire within minutes. */
export const TranscriptionSummary = Type.Object(
  {
    id,
    status,
    language,
    wordCount,
    duration,
    failure: nullable(TranscriptionFailure, "Why the transcription failed; null unless FAILED"),
    skipReason: nullable(SkipReason, "Why the transcription was skipped; null unless SKIPPED"),
    incomplete: Type.Boolean({
      description: "True if the transcription is COMPLETED but damaged parts of the recording are missing",
    }),
    createdAt,
    completedAt,
  },
  { $id: "TranscriptionSummary", additionalProperties: false },
);

export const Video = Type.Object(
  {
    id: Type.String({ description: "Video ID; same as the upload ID" }),
    environmentId: Type.String({ description: "ID of the environment that owns the video" }),
    status: oneOf(VIDEO_STATUSES, "`uploaded` once every byte has arrived"),
    filename: nullable(Type.String(), "`filename` or `name` from the metadata"),
    metadata: VideoMetadata,
    sizeBytes: nullable(Type.Integer({ minimum: 0 }), "Size of the file; null until the client declares it"),
    createdAt: timestamp("When the upload was created, ISO 8601 UTC with milliseconds"),
    uploadedAt: nullable(timestamp(), "When the upload finished; null until then"),
    transcription: nullable(
      TranscriptionSummary,
      "Null until the upload finishes, and if AI Transcription was off at that time",
    ),
  },
  { $id: "Video", additionalProperties: false },
);

export const VideoPage = pageOf("VideoPage", Video);

export const VideoListQuery = Type.Object({
  ...PAGE_QUERY,
  transcriptionStatus: Type.Optional(
    oneOf(TRANSCRIPTION_STATUSES, "Return only videos whose transcription has this status"),
  ),
});

export const DEFAULT_UPLOAD_URL_SECONDS = 3600;

export const NewVideo = Type.Object(
  {
    sizeBytes: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Exact size of the file in bytes; the upload must match it",
    }),
    filename: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    metadata: Type.Optional(
      Type.Record(Type.String({ pattern: "^[!-+\\--~]{1,128}$" }), Type.String(), {
        additionalProperties: false,
        description:
          "Returned with the video and in every event. Keys are up to 128 printable ASCII characters without spaces or commas; 4 KiB in total",
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        description: `Time in seconds within which the upload must start; ${DEFAULT_UPLOAD_URL_SECONDS} by default`,
      }),
    ),
  },
  { $id: "NewVideo", additionalProperties: false },
);

export const UploadTicket = Type.Object(
  {
    url: Type.String({
      format: "uri",
      description:
        "A tus 1.0 resource; HEAD, PATCH and DELETE require no key. Pass it to tus-js-client or Uppy as `uploadUrl`",
    }),
    expiresAt: timestamp("The upload must start before this time; once started, it may continue past it"),
  },
  { $id: "UploadTicket", additionalProperties: false },
);

export const CreatedVideo = Type.Object(
  { video: Video, upload: UploadTicket },
  { $id: "CreatedVideo", additionalProperties: false },
);

export type VideoMetadata = Static<typeof VideoMetadata>;
export type TranscriptionSummary = Static<typeof TranscriptionSummary>;
export type Video = Static<typeof Video>;
export type VideoPage = Static<typeof VideoPage>;
export type VideoListQuery = Static<typeof VideoListQuery>;
export type NewVideo = Static<typeof NewVideo>;
export type UploadTicket = Static<typeof UploadTicket>;
export type CreatedVideo = Static<typeof CreatedVideo>;
