import { type Static, type TSchema, Type } from "typebox";
import { nullable, oneOf, oneOfKnown, timestamp } from "./values.ts";

/** The states of a transcription; FAILED can be reprocessed, COMPLETED and SKIPPED are final. */
export const TRANSCRIPTION_STATUSES = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "SKIPPED"] as const;
export type TranscriptionStatus = (typeof TRANSCRIPTION_STATUSES)[number];

/** Why a transcription is FAILED; `docs/errors.md` explains each. */
export const FAILURE_CODES = [
  "unreadable_media",
  "unsupported_media",
  "undecodable_audio",
  "media_too_long",
  "language_unsupported",
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
  "internal_error",
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Why a transcription is SKIPPED. */
export const SKIP_REASONS = ["no_audio_track", "empty_audio_track", "silent_audio_track"] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export const TranscriptionFailure = Type.Object(
  {
    code: oneOfKnown(FAILURE_CODES, "Stable; see the failure reasons"),
    message: Type.String({ description: "A message for humans; may change" }),
  },
  { $id: "TranscriptionFailure", additionalProperties: false },
);

export const SkipReason = oneOfKnown(
  SKIP_REASONS,
  "`no_audio_track`, `empty_audio_track` (a track without samples) or `silent_audio_track` (digital silence)",
);

/** The three formats of a transcript and their media types. */
export const FILE_CONTENT_TYPES = {
  vtt: "text/vtt",
  json: "application/json",
  txt: "text/plain",
} as const;
export type FileFormat = keyof typeof FILE_CONTENT_TYPES;
export const FILE_FORMATS = Object.keys(FILE_CONTENT_TYPES) as FileFormat[];

const TranscriptionFile = <Format extends FileFormat>(format: Format) =>
  Type.Object(
    {
      url: Type.String({ format: "uri", description: "Downloads the file without a key, for 5 minutes" }),
      expiresAt: timestamp("When the URL ends, ISO 8601 UTC with milliseconds"),
      contentType: Type.Literal(FILE_CONTENT_TYPES[format]),
    },
    { additionalProperties: false },
  );

export const TranscriptionFiles = Type.Object(
  { vtt: TranscriptionFile("vtt"), json: TranscriptionFile("json"), txt: TranscriptionFile("txt") },
  { $id: "TranscriptionFiles", additionalProperties: false },
);

/** What `GET /api/v1/videos/{videoId}/transcription` answers with: exactly ten fields, all of them always present. */
export const Transcription = Type.Object(
  {
    id: Type.String({ description: "Identifier of the transcription" }),
    videoId: Type.String({ description: "Identifier of the video" }),
    environmentId: Type.String({ description: "Identifier of the environment that owns the video" }),
    status: oneOf(TRANSCRIPTION_STATUSES),
    language: nullable(
      Type.String(),
      "Detected language, ISO 639-1 or 639-3; `zxx` for no speech, `und` if undetermined; null until known",
    ),
    wordCount: nullable(Type.Integer({ minimum: 0 }), "Words in the transcript; null until COMPLETED"),
    duration: nullable(Type.Number({ minimum: 0 }), "Duration of the media in seconds; null until probed"),
    files: nullable(TranscriptionFiles, "Null except in state COMPLETED"),
    createdAt: timestamp(),
    completedAt: nullable(timestamp(), "Null except in state COMPLETED"),
  },
  { $id: "Transcription", additionalProperties: false },
);

/** A spoken word in the JSON file. */
export const TranscriptWord = Type.Object(
  {
    word: Type.String({ minLength: 1, description: "As written, with punctuation" }),
    start: Type.Number({
      minimum: 0,
      description: "In seconds; not before the previous word's end",
    }),
    end: Type.Number({ minimum: 0, description: "In seconds; not before `start`" }),
  },
  { $id: "TranscriptWord", additionalProperties: false },
);

/** The content of each file, by its format. */
export const FILE_CONTENTS = {
  vtt: Type.String({ description: "WebVTT captions" }),
  json: Type.Array(TranscriptWord, { description: "The words in spoken order" }),
  txt: Type.String({ description: "The transcript as plain text" }),
} as const satisfies Record<FileFormat, TSchema>;

export type TranscriptionFiles = Static<typeof TranscriptionFiles>;
export type Transcription = Static<typeof Transcription>;
export type TranscriptWord = Static<typeof TranscriptWord>;
