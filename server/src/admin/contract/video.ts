import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { VideoState } from "../../db/enums.ts";

export interface TranscriptionSummaryView {
  id: string;
  videoId: string;
  environmentId: string;
  status: TranscriptionStatus;
  /** 0 … 1 */
  progress: number;
  /** Estimated time until the running attempt finishes; null if unknown. */
  remainingSeconds: number | null;
  language: string | null;
  wordCount: number | null;
  /** ETag of the current words, which changes with each correction; null until COMPLETED. */
  wordsEtag: string | null;
  /** Seconds. */
  duration: number | null;
  /** Why the transcription failed, or why its last attempt failed if another one follows. */
  failure: { code: string; message: string } | null;
  skipReason: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** What to show for a recording. */
export type PosterView =
  /** A frame of the video, at most 320 pixels wide and high: `GET …/videos/{video}/poster`, JPEG. */
  | { kind: "frame" }
  /** Loudness over time of a recording without video: up to 40 levels from 0 to 15. */
  | { kind: "levels"; levels: number[] };

/** An entry of the video list. */
export interface VideoView {
  id: string;
  environmentId: string;
  state: VideoState;
  filename: string | null;
  /** Null until the client declares it. */
  sizeBytes: number | null;
  /** Bytes received so far; null after the upload, or if the storage does not report them. */
  uploadedBytes: number | null;
  createdAt: string;
  uploadedAt: string | null;
  transcription: TranscriptionSummaryView | null;
  /** Null until it has been made, which happens after the transcription, or if there is nothing to show. */
  poster: PosterView | null;
  /** Position in the queue while pending: 1 is next; null beyond the last position that is computed. */
  queuePosition: number | null;
  /** Estimated time until a worker starts the transcription; null unless pending, and if it cannot be estimated. */
  startsInSeconds: number | null;
  /**
   * `model` if the video is pending because the installed speech models do not support its language; null if it only
   * waits for its turn.
   */
  waitsFor: "model" | null;
}

/** Counting stops at this number of videos per state. */
export const MAX_COUNTED_VIDEOS = 10_000;
export type VideoCountsView = Record<VideoState, number>;

/** Maximum length of the text that the list's filter accepts, in characters. */
export const MAX_VIDEO_TEXT = 200;

/** Values that occur in the environment. */
export interface VideoFilterValuesView {
  languages: string[];
  /** Failure codes of FAILED transcriptions. */
  failures: string[];
}

export interface VideoPageView {
  data: VideoView[];
  nextCursor: string | null;
}

/** Payload of the `change` events in an environment's video stream (server-sent events). */
export interface VideoChangesView {
  /** New or changed videos in their current state, in any order. */
  videos: VideoView[];
  /** Ids of deleted videos. */
  deleted: string[];
}

/** A temporary URL that accepts the bytes of one new video over tus without a sign-in. */
export interface UploadOfferView {
  video: VideoView;
  upload: { url: string; expiresAt: string };
}
