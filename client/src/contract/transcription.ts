import { type Static, type TSchema, Type } from "typebox";
import { nullable, oneOf, oneOfKnown, timestamp } from "./values.ts";

/** FAILED transcriptions can be reprocessed; COMPLETED and SKIPPED are final. */
export const TRANSCRIPTION_STATUSES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "SKIPPED"] as const;
export type TranscriptionStatus = (typeof TRANSCRIPTION_STATUSES)[number];

/** Why a transcription is FAILED. `docs/errors.md` explains each code. */
export const FAILURE_CODES = [
  "unreadable_media",
  "unsupported_media",
  "undecodable_audio",
  "media_too_long",
  "language_unsupported",
  "language_undetermined",
  "decoder_unavailable",
  "decoder_crashed",
  "model_unusable",
  "model_not_found",
  "model_download_failed",
  "model_corrupt",
  "model_store_failed",
  "engine_crashed",
  "engine_hung",
  "insufficient_memory",
  "engine_out_of_memory",
  "engine_refused",
  "engine_unavailable",
  "engine_answer_invalid",
  "storage_object_denied",
  "storage_object_unusable",
  "storage_object_missing",
  "worker_lost",
  "canceled",
  "internal_error",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

export const SKIP_REASONS = ["no_audio_track", "empty_audio_track", "silent_audio_track"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const TranscriptionFailure = Type.Object(
  {
    code: oneOfKnown(FAILURE_CODES, "Stable code; later releases may add more"),
    message: Type.String({ description: "Human-readable message; may change" }),
  },
  { $id: "TranscriptionFailure", additionalProperties: false },
);

export const SkipReason = oneOfKnown(
  SKIP_REASONS,
  "`no_audio_track`, `empty_audio_track` (a track without samples) or `silent_audio_track` (digital silence)",
);

/** A spoken word in the JSON file. */
export const TranscriptWord = Type.Object(
  {
    word: Type.String({ minLength: 1, description: "As written, with punctuation" }),
    start: Type.Number({
      minimum: 0,
      description: "Seconds; at or after the end of the previous word",
    }),
    end: Type.Number({ minimum: 0, description: "Seconds; at or after `start`" }),
  },
  { $id: "TranscriptWord", additionalProperties: false },
);

/**
 * The formats of a transcript. If you add a format, make it optional in `TranscriptionFiles`, because earlier transcripts
 * lack it.
 */
export const TRANSCRIPT_FORMATS = {
  vtt: {
    contentType: "text/vtt",
    content: Type.String({ description: "WebVTT captions" }),
  },
  json: {
    contentType: "application/json",
    content: Type.Array(TranscriptWord, { description: "The words in spoken order" }),
  },
  txt: {
    contentType: "text/plain",
    content: Type.String({ description: "The transcript as plain text" }),
  },
} as const satisfies Record<string, { contentType: string; content: TSchema }>;
export type FileFormat = keyof typeof TRANSCRIPT_FORMATS;
export const FILE_FORMATS = Object.keys(TRANSCRIPT_FORMATS) as FileFormat[];

const TranscriptionFile = <Format extends FileFormat>(format: Format) =>
  Type.Object(
    {
      url: Type.String({
        format: "uri",
        description: "Downloads the file without a key; valid for 5 minutes",
      }),
      expiresAt: timestamp("When the URL expires, ISO 8601 UTC with milliseconds"),
      contentType: Type.Literal<(typeof TRANSCRIPT_FORMATS)[Format]["contentType"]>(
        TRANSCRIPT_FORMATS[format].contentType,
      ),
    },
    { additionalProperties: false },
  );

export const TranscriptionFiles = Type.Object(
  { vtt: TranscriptionFile("vtt"), json: TranscriptionFile("json"), txt: TranscriptionFile("txt") },
  { $id: "TranscriptionFiles", additionalProperties: false },
);

/** The response of `GET /api/v1/videos/{videoId}/transcription`: exactly ten fields, all always present. */
export const Transcription = Type.Object(
  {
    id: Type.String({ description: "Transcription ID" }),
    videoId: Type.String({ description: "Video ID" }),
    environmentId: Type.String({ description: "ID of the environment that owns the video" }),
    status: oneOf(TRANSCRIPTION_STATUSES),
    language: nullable(
      Type.String(),
      "Detected language, ISO 639-1 or 639-3; `zxx` for no speech, `und` if undetermined; null until known",
    ),
    wordCount: nullable(Type.Integer({ minimum: 0 }), "Words in the transcript; null until COMPLETED"),
    duration: nullable(Type.Number({ minimum: 0 }), "Duration of the media in seconds; null until probed"),
    files: nullable(TranscriptionFiles, "Null unless COMPLETED"),
    createdAt: timestamp(),
    completedAt: nullable(timestamp(), "Null unless COMPLETED"),
  },
  { $id: "Transcription", additionalProperties: false },
);

export type TranscriptionFiles = Static<typeof TranscriptionFiles>;
export type Transcription = Static<typeof Transcription>;
export type TranscriptWord = Static<typeof TranscriptWord>;
