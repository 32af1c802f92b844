import type { FileFormat } from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { AttemptOutcome } from "../../db/enums.ts";
import type { TranscriptionSummaryView, VideoView } from "./video.ts";

/**
 * All data of one video: `GET /internal/environments/{environment}/videos/{video}`. `DELETE` at the same path deletes
 * it (204); `POST …/reprocess` restarts a failed transcription and answers 202 with this view.
 */
export interface VideoDetailView extends VideoView {
  metadata: VideoMetadata;
  /** Null until the upload completes, and after the recording was deleted. */
  media: MediaView | null;
  /** When retention deleted the recording but kept the transcript; null while the recording exists. */
  recordingDeletedAt: string | null;
  /** The video whose recording this one is a copy of; null if it is none, or if that video was deleted. */
  sourceVideo: { id: string; filename: string | null } | null;
  transcription: TranscriptionDetailView | null;
}

export interface MediaView {
  /**
   * `…/media` of this service. It accepts Range, requires the session cookie and may redirect to the storage. With
   * `?download`, the browser always downloads the file.
   */
  url: string;
  /**
   * Detected from the file's first bytes, regardless of its name, e.g. `video/mp4`. Null if the media type is unknown:
   * no browser plays the file, and `url` downloads it.
   */
  contentType: string | null;
}

export interface TranscriptionDetailView extends TranscriptionSummaryView {
  /** Engine and model that recognized most of the words; null until COMPLETED. */
  engine: string | null;
  /** For example `ffmpeg 5.1.9`; null until COMPLETED. */
  decoder: string | null;
  /** Number of the transcribed audio track, from 1; null if it is the default or the only track. */
  audioTrack: number | null;
  /** Empty until COMPLETED. */
  fileFormats: FileFormat[];
  /** True if damaged parts of the recording are missing from the transcript. */
  incomplete: boolean;
  /** In order, without overlaps; null until COMPLETED. */
  languageSegments: LanguageSegmentView[] | null;
  /** Whether `GET …/waveform` returns one. */
  hasWaveform: boolean;
  /** While PENDING after a failure: the earliest start of the next attempt. Null if it waits for a model. */
  retryAt: string | null;
  /** Steps of the latest attempt so far, in order, starting with the upload. */
  timeline: TimelineStepView[];
  /** All attempts in order, including those before a reprocess. Early releases recorded no attempts. */
  attempts: AttemptView[];
  /** Events of the transcription in order, with their deliveries. */
  events: EventView[];
}

export interface LanguageSegmentView {
  /** Seconds of the media. */
  start: number;
  end: number;
  /** ISO 639 code; `und` if unknown. */
  language: string;
  /** 0 … 1 */
  probability: number;
  engine: string;
  words: number;
}

export const TIMELINE_STEPS = [
  "uploaded",
  "queued",
  "started",
  /** The speech engine was ready and the recording available; known only after recognition completes. */
  "prepared",
  "decoded",
  "transcribed",
  /** The files are written; the commit follows immediately. */
  "stored",
  "completed",
  "failed",
  "skipped",
  /** A webhook endpoint accepted the event; one step for each endpoint. */
  "delivered",
] as const;
export type TimelineStep = (typeof TIMELINE_STEPS)[number];

export interface TimelineStepView {
  step: TimelineStep;
  at: string;
  /** Seconds since the previous step; for `delivered`, since the transcription ended. Null for the first. */
  seconds: number | null;
  /** Only for `delivered`. */
  endpointUrl?: string;
}

export interface AttemptView {
  /** From 1; a reprocess does not reset it. */
  number: number;
  /**
   * What started the attempt: `resumption` follows an attempt that was handed back or yielded, `retry` one that was
   * returned or lost.
   */
  begunBy: "upload" | "resumption" | "retry" | "reprocess";
  queuedAt: string;
  startedAt: string;
  /** Null while the attempt is running, as is `outcome`. */
  endedAt: string | null;
  outcome: AttemptOutcome | null;
  /** Set if the attempt failed, even if it will be retried. */
  failure: { code: string; message: string } | null;
}

export interface EventView {
  id: string;
  type: SentEventType;
  createdAt: string;
  deliveries: {
    id: string;
    endpointId: string;
    endpointUrl: string;
    status: DeliveryStatus;
    /** Number of POST requests. */
    attempts: number;
    nextAttemptAt: string | null;
    /** When the endpoint accepted the event, the service gave up, or the delivery was canceled. */
    finishedAt: string | null;
  }[];
}

/**
 * The words of a transcript in columns of equal length: `GET …/videos/{video}/transcript`, with an ETag; 404
 * `transcript_not_found` until COMPLETED. Compressed, 30,000 words take about 160 KB.
 */
export interface TranscriptWordsView {
  /** Language of the whole recording: an ISO 639 code, `und` if unknown. */
  language: string;
  /**
   * As written, including any preceding space: joining the words of a paragraph yields its text. The first word of a
   * paragraph has no preceding space.
   */
  words: string[];
  /** Whole milliseconds since the end of the previous word (for the first: since 0), ≥ 0. */
  pauses: number[];
  /** Whole milliseconds, ≥ 0. A word ends at the sum of all pauses and durations up to and including its own. */
  durations: number[];
  /** Confidence in percent; null if the engine reported none. The column is null if no confidences are stored. */
  confidences: (number | null)[] | null;
  /** Index of each paragraph's first word, ascending from 0; empty if there are no words. */
  paragraphs: number[];
  /** Name of each paragraph's speaker, or null. The column is null if no speaker is named. */
  speakers: (string | null)[] | null;
  /** Channel of each paragraph's words. The column is null unless the recording has one speaker per channel. */
  channels: (number | null)[] | null;
}

/** Downloads that contain the names of speakers. Offered only if a speaker is named. */
export const SPEAKER_FORMATS = ["txt", "srt", "vtt"] as const;
export type SpeakerFormat = (typeof SPEAKER_FORMATS)[number];

/**
 * Loudness of a recording and its speech segments: `GET …/videos/{video}/waveform`, with an ETag; 404
 * `waveform_not_found` if it was never decoded. Exists for COMPLETED, SKIPPED and, if the audio could be decoded,
 * FAILED transcriptions.
 */
export interface WaveformView {
  /** Seconds of the media. */
  duration: number;
  peaksPerSecond: number;
  /**
   * Base64 of one byte per peak: 255 times the square root of the amplitude, from 0 for silence to 255 for full scale.
   * Covers less than the duration if only the beginning could be read.
   */
  peaks: string;
  /** Speech segments as `[start, end]` in seconds, in order and without overlaps. */
  speech: [number, number][];
}
