import type { Transcription } from "./transcription.ts";

/** The kinds of event that a webhook endpoint can subscribe to. */
export const EVENT_TYPES = [
  "transcriptions.transcription.completed",
  "transcriptions.transcription.failed",
  "transcriptions.transcription.skipped",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Values are text as the uploader sent it; null where a key came without a value. */
export type VideoMetadata = Record<string, string | null>;

/** The body of a webhook. It is made anew at every attempt, so its file URLs are always fresh. */
export interface WebhookPayload {
  type: EventType;
  /** When the event happened, ISO 8601 UTC with milliseconds. */
  timestamp: string;
  data: Transcription & {
    /** What the uploader attached to the video. */
    videoMetadata: VideoMetadata;
    /** Of `.failed` alone. */
    error?: { code: string; message: string };
    /** Of `.skipped` alone. */
    reason?: string;
  };
  /** The endpoint's own object. */
  metadata: Record<string, unknown>;
}
