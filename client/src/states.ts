import type * as contract from "./types.ts";

/*
 * API responses as unions by `status`: each state says which fields are null.
 */

type TranscriptionStatus = contract.Transcription["status"];

/** Why a transcription is FAILED. A newer service may send a code that is not listed: keep a default branch. */
export type FailureCode = contract.TranscriptionFailure["code"];
/** Why a transcription is SKIPPED. A newer service may send a reason that is not listed. */
export type SkipReason = NonNullable<contract.TranscriptionSummary["skipReason"]>;

/** If a transcription is COMPLETED, none of its fields is null. */
export type Completed<T> = { [Field in keyof T]: NonNullable<T[Field]> } & { status: "COMPLETED" };

/** A transcription with captions, words and text. */
export type CompletedTranscription = Completed<contract.Transcription>;

/** A transcription in any other state: there are no files. */
export type OtherTranscription<Status extends TranscriptionStatus> = contract.Transcription & {
  status: Status;
  wordCount: null;
  files: null;
  completedAt: null;
};

/** The ten fields of a transcription, discriminated by `status`. */
export type Transcription =
  | CompletedTranscription
  | OtherTranscription<"PENDING">
  | OtherTranscription<"PROCESSING">
  | OtherTranscription<"FAILED">
  | OtherTranscription<"SKIPPED">;

/** Why a transcription ended as it did. */
export interface Reasons<Status extends TranscriptionStatus> {
  failure: Status extends "FAILED" ? contract.TranscriptionFailure : null;
  skipReason: Status extends "SKIPPED" ? SkipReason : null;
  /** True if damaged parts of the recording are missing from the transcript. */
  incomplete: Status extends "COMPLETED" ? boolean : false;
}

/** What `transcriptions.wait` returns, discriminated by `status`. */
export type EndedTranscription =
  | (CompletedTranscription & Reasons<"COMPLETED">)
  | (OtherTranscription<"FAILED"> & Reasons<"FAILED">)
  | (OtherTranscription<"SKIPPED"> & Reasons<"SKIPPED">);

type SummaryFields = Omit<contract.TranscriptionSummary, keyof Reasons<"FAILED">>;
type OtherSummary<Status extends TranscriptionStatus> = SummaryFields &
  Reasons<Status> & { status: Status; wordCount: null; completedAt: null };

/** A transcription as part of its video. */
export type TranscriptionSummary =
  | (Completed<SummaryFields> & Reasons<"COMPLETED">)
  | OtherSummary<"PENDING">
  | OtherSummary<"PROCESSING">
  | OtherSummary<"FAILED">
  | OtherSummary<"SKIPPED">;

/** A video whose upload is not finished. */
export type UploadingVideo = contract.Video & { status: "uploading"; uploadedAt: null; transcription: null };

/** A video whose upload has finished; `transcription` is null if AI Transcription was off at that time. */
export type UploadedVideo = Omit<contract.Video, "transcription"> & {
  status: "uploaded";
  uploadedAt: string;
  sizeBytes: number;
  transcription: TranscriptionSummary | null;
};

/** A video, discriminated by `status`. */
export type Video = UploadingVideo | UploadedVideo;

/** A new video and its upload URL. */
export type CreatedVideo = contract.CreatedVideo & { video: UploadingVideo };
