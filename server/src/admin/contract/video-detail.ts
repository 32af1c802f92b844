import type { FileFormat } from "@subtext/client/contract/transcription";
import type { VideoMetadata } from "@subtext/client/contract/video";
import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { AttemptOutcome } from "../../db/enums.ts";
import type { TranscriptionSummaryView, VideoView } from "./video.ts";

/**
 * Everything about one video: `GET /internal/environments/{environment}/videos/{video}`. `DELETE` at the same
 * address removes it (204), `POST …/reprocess` opens a failed transcription anew and answers 202 with this view.
 */
export interface VideoDetailView extends VideoView {
  metadata: VideoMetadata;
  /** Null until it is uploaded, and once its recording is deleted. */
  media: MediaView | null;
  /** By the retention of its environment, which keeps the transcript; null while it is there. */
  recordingDeletedAt: string | null;
  transcription: TranscriptionDetailView | null;
}

export interface MediaView {
  /**
   * `…/media` of this service: accepts Range, needs the session cookie, may redirect to the storage. With
   * `?download` the browser saves it and never shows it.
   */
  url: string;
  /**
   * Detected from the file's first bytes, whatever its name says: `video/mp4`. Null if it is not a known media
   * type: no browser plays it, and `url` downloads it.
   */
  contentType: string | null;
}

export interface TranscriptionDetailView extends TranscriptionSummaryView {
  /** Which engine and model recognized most of the words; null until COMPLETED, as are the next five. */
  engine: string | null;
  /** `ffmpeg 5.1.9` */
  decoder: string | null;
  /** Number of the audio track that was transcribed, from 1; null if it is the default or the only one. */
  audioTrack: number | null;
  /** Empty until COMPLETED. */
  fileFormats: FileFormat[];
  /** True where damaged parts of the recording are missing from the transcript. */
  incomplete: boolean;
  /** Which language is spoken where, in order, not overlapping. */
  stretches: LanguageStretchView[] | null;
  /** While it is PENDING after a fault: the next attempt begins no sooner. Null where it waits for a model. */
  retryAt: string | null;
  /** How its latest attempt went so far, from the upload on, in order. */
  timeline: TimelineStepView[];
  /** Every attempt of every round, in order; without those of releases that did not keep them. */
  attempts: AttemptView[];
  /** What was told of it, in order, and to whom. */
  events: EventView[];
}

export interface LanguageStretchView {
  /** Seconds of the media. */
  start: number;
  end: number;
  /** ISO 639 code; `und` where none can be told. */
  language: string;
  /** 0 … 1 */
  probability: number;
  engine: string;
  /** How many words of the transcript it gave. */
  words: number;
}

export const TIMELINE_STEPS = [
  "uploaded",
  "queued",
  "started",
  /** The speech engine was ready, and the recording at hand; of what was heard to its end. */
  "prepared",
  "decoded",
  "transcribed",
  /** Files are written; what follows commits at once. */
  "stored",
  "completed",
  "failed",
  "skipped",
  /** A webhook endpoint has taken the event; one step for each. */
  "delivered",
] as const;
export type TimelineStep = (typeof TIMELINE_STEPS)[number];

export interface TimelineStepView {
  step: TimelineStep;
  at: string;
  /** Since the step before it; of `delivered`: since the transcription ended. Null for the first. */
  seconds: number | null;
  /** Of `delivered` alone. */
  endpointUrl?: string;
}

export interface AttemptView {
  /** From 1, over all rounds. */
  number: number;
  /** Why there was this attempt: `resumption` after one that was handed back or made way, `retry` after a fault. */
  begunBy: "upload" | "resumption" | "retry" | "reprocess";
  queuedAt: string;
  startedAt: string;
  /** Null while it runs, as `outcome`. */
  endedAt: string | null;
  outcome: AttemptOutcome | null;
  /** Of one that failed or was returned. */
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
    /** How many POSTs were made. */
    attempts: number;
    nextAttemptAt: string | null;
    /** When the endpoint took it, or when it was given up. */
    finishedAt: string | null;
  }[];
}

/**
 * The words of a transcript in columns, all of one length: `GET …/videos/{video}/transcript`, with an ETag;
 * 404 `transcript_not_found` until COMPLETED. Compressed, 30,000 words take some 160 KB.
 */
export interface TranscriptWordsView {
  /** Of the whole recording. */
  language: string;
  /**
   * As it is written, with the space before it where one stands: the words of a paragraph put together are
   * its text. The first of a paragraph has none.
   */
  words: string[];
  /** Whole milliseconds since the end of the word before (of the first: since 0), ≥ 0. */
  pauses: number[];
  /** Whole milliseconds, ≥ 0. A word ends at the sum of all pauses and durations up to its own. */
  durations: number[];
  /** Percent, how sure the engine was; null where it did not say. The whole column is null where none is kept. */
  confidences: (number | null)[] | null;
  /** Index of each paragraph's first word, ascending from 0; empty without words. */
  paragraphs: number[];
}

/**
 * How loud a recording is and where somebody speaks: `GET …/videos/{video}/waveform`, with an ETag; 404
 * `waveform_not_found` where it was never decoded. It is there for COMPLETED, SKIPPED and, where the audio
 * could be decoded, FAILED.
 */
export interface WaveformView {
  /** Seconds of the media. */
  duration: number;
  peaksPerSecond: number;
  /**
   * Base64 of a byte for each tenth of a second or so of the media: 255 times the square root of the amplitude,
   * 0 silence … 255 the loudest that a file can hold. Shorter than the duration where only the beginning could
   * be read.
   */
  peaks: string;
  /** Where somebody speaks, `[start, end]` in seconds of the media, in order, not overlapping. */
  speech: [number, number][];
}
