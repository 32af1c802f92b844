import { type Static, Type } from "typebox";
import { PAGE_QUERY, pageOf } from "./page.ts";
import { SkipReason, TRANSCRIPTION_STATUSES, Transcription, TranscriptionFailure } from "./transcription.ts";
import { nullable, oneOf, timestamp } from "./values.ts";

/** Metadata sent with the upload. Values are text as sent; null for a key without a value. */
export const VideoMetadata = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  $id: "VideoMetadata",
  description:
    "What the uploader attached (tus `Upload-Metadata`, or `metadata` of `POST /api/v1/videos`); null where a key came without a value",
});

export const VIDEO_STATUSES = ["uploading", "uploaded"] as const;

const { id, status, language, wordCount, duration, createdAt, completedAt } = Transcription.properties;

/** A transcription as part of its video: without files, because their URLs expire within minutes, but with reasons. */
export const TranscriptionSummary = Type.Object(
  {
    id,
    status,
    language,
    wordCount,
    duration,
    failure: nullable(TranscriptionFailure, "Why it is FAILED; null in every other state"),
    skipReason: nullable(SkipReason, "Why it is SKIPPED; null in every other state"),
    incomplete: Type.Boolean({
      description:
        "True if it is COMPLETED, but damaged parts of the recording are missing from the transcript",
    }),
    createdAt,
    completedAt,
  },
  { $id: "TranscriptionSummary", additionalProperties: false },
);

export const Video = Type.Object(
  {
    id: Type.String({ description: "Identifier of the video, and of its upload" }),
    environmentId: Type.String({ description: "Identifier of the environment that owns the video" }),
    status: oneOf(VIDEO_STATUSES, "`uploaded` once every byte has arrived"),
    filename: nullable(Type.String(), "`filename` or `name` of the metadata"),
    metadata: VideoMetadata,
    sizeBytes: nullable(Type.Integer({ minimum: 0 }), "Null until the uploader declares it"),
    createdAt: timestamp("When the upload was created, ISO 8601 UTC with milliseconds"),
    uploadedAt: nullable(timestamp(), "Null during the upload"),
    transcription: nullable(
      TranscriptionSummary,
      "Null during the upload, and if AI Transcription was off when it finished",
    ),
  },
  { $id: "Video", additionalProperties: false },
);

export const VideoPage = pageOf("VideoPage", Video);

export const VideoListQuery = Type.Object({
  ...PAGE_QUERY,
  transcriptionStatus: Type.Optional(
    oneOf(TRANSCRIPTION_STATUSES, "Only videos whose transcription is in this state"),
  ),
});

export const DEFAULT_UPLOAD_URL_SECONDS = 3600;

export const NewVideo = Type.Object(
  {
    sizeBytes: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The exact size of the file; the upload URL accepts no more and no less",
    }),
    filename: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    metadata: Type.Optional(
      Type.Record(Type.String({ pattern: "^[!-+\\--~]{1,128}$" }), Type.String(), {
        additionalProperties: false,
        description:
          "Comes back with the video and in every event; keys are printable ASCII without spaces and commas, 4 KB in all",
      }),
    ),
    expiresInSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        description: `How long the upload URL can be used to start the upload; ${DEFAULT_UPLOAD_URL_SECONDS} by default`,
      }),
    ),
  },
  { $id: "NewVideo", additionalProperties: false },
);

/** The upload URL of a new video. */
export const UploadTicket = Type.Object(
  {
    url: Type.String({
      format: "uri",
      description:
        "A tus 1.0 resource; HEAD, PATCH and DELETE need no key. `uploadUrl` of tus-js-client and Uppy",
    }),
    expiresAt: timestamp("Until when the upload must begin; once begun it may take longer"),
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
