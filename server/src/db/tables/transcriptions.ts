import type { FileFormat, TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { LanguageSegment, StageSeconds } from "@subtext/speech/transcript";
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Selectable } from "kysely";
import type { ActorKind, AttemptOutcome } from "../enums.ts";

export interface TranscriptionTable {
  id: string;
  video_id: string;
  environment_id: string;
  status: TranscriptionStatus;
  /** The only job that may process it. */
  job_id: string;
  /** Number of attempts that have started. Writes use it as a fencing token. */
  attempt: Generated<number>;
  /** Retryable failures. Reset by reprocessing, and by progress beyond all earlier checkpoints. */
  failure_count: Generated<number>;
  /** Worker crashes, reset like `failure_count`. */
  crash_count: Generated<number>;
  language: string | null;
  word_count: number | null;
  duration: number | null;
  /** From 0 to 1. */
  progress: Generated<number>;
  /** Null if unknown. */
  remaining_seconds: number | null;
  /** Storage key prefix of the recognized original's files; null until COMPLETED. See `currentPrefix`. */
  file_prefix: string | null;
  /** Storage key prefix of the current revision's files; null if nobody has changed the transcript. */
  edited_prefix: ColumnType<string | null, never, string>;
  /** Number of the current revision; 0 is the recognized original. */
  revision: Generated<number>;
  /** Number of saves. */
  edit_version: Generated<number>;
  file_formats: ColumnType<FileFormat[], string | undefined, string>;
  failure_code: string | null;
  failure_message: string | null;
  skip_reason: string | null;
  engine: string | null;
  decoder: string | null;
  /** Number of the transcribed audio track, from 1. Null for the default or only track. */
  audio_track: ColumnType<number | null, never, number | null>;
  /** Whether damaged parts of the recording are missing from the transcript. */
  incomplete: Generated<boolean>;
  stages: JSONColumnType<StageSeconds | null>;
  /** Engine and model of each language segment; null until COMPLETED. */
  language_segments: ColumnType<LanguageSegment[] | null, string | undefined, string>;
  /** Storage key prefix of the waveform, which can exist without transcript files. */
  waveform_prefix: ColumnType<string | null, never, string | null>;
  /** The only job that may make the poster; null if none was enqueued. */
  poster_job_id: ColumnType<string | null, never, string | null>;
  /** When the job ended, even if it made no poster; null until then. */
  poster_ended_at: ColumnType<Date | null, never, Date | null>;
  /** Storage key prefix of a frame of the video; null if there is none. */
  poster_prefix: ColumnType<string | null, never, string | null>;
  /** Loudness over time of a recording without video, as hexadecimal digits; see `make-poster.ts`. */
  poster_levels: ColumnType<string | null, never, string | null>;
  created_at: Date;
  /** When it last became PENDING. */
  queued_at: Date;
  /** Earliest start of the next attempt, by the database's clock; null if it may start immediately. */
  due_at: ColumnType<Date | null, Date | undefined, Date | null>;
  started_at: Date | null;
  finished_at: Date | null;
  /** Like the video's `changed_at`. */
  changed_at: GeneratedAlways<Date>;
}

/** An attempt at a transcription. Reprocessing keeps the rows of earlier attempts. */
export interface TranscriptionAttemptTable {
  transcription_id: string;
  /** The transcription's `attempt` at that time. */
  number: number;
  queued_at: Date;
  started_at: Date;
  decoded_at: ColumnType<Date | null, never, Date>;
  transcribed_at: ColumnType<Date | null, never, Date | null>;
  /** Null while the attempt runs, like `outcome`. */
  ended_at: ColumnType<Date | null, never, Date>;
  outcome: ColumnType<AttemptOutcome | null, never, AttemptOutcome>;
  failure_code: ColumnType<string | null, never, string | null>;
  failure_message: ColumnType<string | null, never, string | null>;
  retry_at: ColumnType<Date | null, never, Date | null>;
}

export interface TranscriptionCheckpointTable {
  transcription_id: string;
  attempt: number;
  number: number;
  /** Words up to this second of the media are final. */
  settled_seconds: number;
  /** Opaque. Only the speech package reads and writes it. */
  results: string;
}

/** A transcript that nobody has changed has no rows. */
export interface TranscriptRevisionTable {
  transcription_id: string;
  /** 0 is the recognized original. */
  number: number;
  file_prefix: string;
  /** Id of the editing session that can still update the revision; null if the next save creates a new one. */
  edit_session_id: string | null;
  /** Null for the recognized original. */
  actor_kind: ActorKind | null;
  actor_id: string | null;
  actor_name: string | null;
  word_count: number;
  /** Compared with the previous revision. */
  changed_words: number;
  created_at: Date;
  updated_at: Date;
}

/** When to send the event about the changes of a transcript; see `updated-event.ts`. */
export interface TranscriptUpdateTable {
  transcription_id: string;
  /** The only job that may send the event; null if every change was announced. */
  job_id: string | null;
  /** The first change since the last event. */
  first_edit_at: Date;
  last_edit_at: Date;
  sent_at: Date | null;
}

export type TranscriptionRow = Selectable<TranscriptionTable>;
export type TranscriptRevisionRow = Selectable<TranscriptRevisionTable>;
export type TranscriptionAttemptRow = Selectable<TranscriptionAttemptTable>;
