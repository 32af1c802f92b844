import type { TranscriptionStatus } from "@subtext/client/contract/transcription";
import type { VideoState } from "../../db/enums.ts";

export interface TranscriptionSummaryView {
  id: string;
  videoId: string;
  environmentId: string;
  status: TranscriptionStatus;
  /** 0 … 1 */
  progress: number;
  /** Until the attempt that is running is done; null where that is not known. */
  remainingSeconds: number | null;
  language: string | null;
  wordCount: number | null;
  /** Seconds. */
  duration: number | null;
  /** Why it failed, or why its last attempt did while another is to come. */
  failure: { code: string; message: string } | null;
  skipReason: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** One line of the list of videos. */
export interface VideoView {
  id: string;
  environmentId: string;
  state: VideoState;
  filename: string | null;
  /** Null until the uploader has told it. */
  sizeBytes: number | null;
  /** While it is uploading: how much is there; null where the storage does not tell at the moment. */
  uploadedBytes: number | null;
  createdAt: string;
  uploadedAt: string | null;
  transcription: TranscriptionSummaryView | null;
  /** While it is pending: 1 is next; null past the place up to which places are counted. */
  queuePlace: number | null;
  /**
   * While it is pending: `model` where it was heard already, and waits for a speech model that is on its way and
   * knows more languages; null where it waits for nothing but its turn.
   */
  waitsFor: "model" | null;
}

/** Videos of each state are counted so far; of more it is told that there are so many. */
export const COUNTED_VIDEOS = 10_000;
export type VideoCountsView = Record<VideoState, number>;

export interface VideoPageView {
  data: VideoView[];
  /** For the next page; null on the last. */
  nextCursor: string | null;
}

/** What the stream of an environment's videos carries, as server-sent events `change`. */
export interface VideoChangesView {
  /** Videos that are new or look different now, as they are now, in any order. */
  videos: VideoView[];
  /** Ids of videos that are gone. */
  deleted: string[];
}

/** An address that takes the bytes of one new video by tus, without a sign-in, for a while. */
export interface UploadOfferView {
  video: VideoView;
  upload: { url: string; expiresAt: string };
}
