import type { VideoMetadata } from "@subtext/client/contract/video";
import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { TranscriptionSummaryView, VideoView } from "./video.ts";
import type { LanguageSegmentView } from "./video-detail.ts";

/** See `VideoView`. */
export type QueueView = Pick<VideoView, "queuePosition" | "startsInSeconds">;

/** The fields of a transcription that the command line shows. */
export interface TranscriptionView extends TranscriptionSummaryView, QueueView {
  video: { sizeBytes: number | null; metadata: VideoMetadata; createdAt: string; uploadedAt: string | null };
  attempt: number;
  /** Attempts since the latest (re)start that ended with a retryable failure. */
  failureCount: number;
  /** Attempts since the latest (re)start whose worker crashed. */
  crashCount: number;
  engine: string | null;
  decoder: string | null;
  /** True if damaged parts of the recording are missing from the transcript. */
  incomplete: boolean;
  /** Seconds of work by stage. */
  stages: Record<"probe" | "decode" | "voiceActivity" | "engine" | "total", number> | null;
  /** Language segments in order; null until COMPLETED. */
  languageSegments: LanguageSegmentView[] | null;
  events: {
    id: string;
    type: SentEventType;
    createdAt: string;
    deliveries: { id: string; endpointId: string; status: DeliveryStatus; attempts: number }[];
  }[];
}
