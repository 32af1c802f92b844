import type * as contract from "./types.ts";

/* API responses as unions discriminated by `status`, which determines the fields that are null. */

type TranscriptionStatus = contract.Transcription["status"];

/** Why a transcription is FAILED. A newer service may send other codes, so keep a default branch. */
export type FailureCode = contract.TranscriptionFailure["code"];
/** Why a transcription is SKIPPED. A newer service may send other reasons, so keep a default branch. */
export type SkipReason = NonNullable<contract.TranscriptionSummary["skipReason"]>;

/** A COMPLETED transcription has no fields that are null. */
export type Completed<T> = { [Field in keyof T]: NonNullable<T[Field]> } & { status: "COMPLETED" };

export type CompletedTranscription = Completed<contract.Transcription>;

/** A transcription that is not COMPLETED. It has no files. */
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

/** Why a transcription failed or was skipped, and whether it is incomplete. */
export interface OutcomeDetails<Status extends TranscriptionStatus> {
  failure: Status extends "FAILED" ? contract.TranscriptionFailure : null;
  skipReason: Status extends "SKIPPED" ? SkipReason : null;
  /** True if damaged parts of the recording are missing from the transcript. */
  incomplete: Status extends "COMPLETED" ? boolean : false;
}

/** The result of `transcriptions.wait`, discriminated by `status`. */
export type EndedTranscription =
  | (CompletedTranscription & OutcomeDetails<"COMPLETED">)
  | (OtherTranscription<"FAILED"> & OutcomeDetails<"FAILED">)
  | (OtherTranscription<"SKIPPED"> & OutcomeDetails<"SKIPPED">);

type SummaryFields = Omit<contract.TranscriptionSummary, keyof OutcomeDetails<"FAILED">>;
type OtherSummary<Status extends TranscriptionStatus> = SummaryFields &
  OutcomeDetails<Status> & { status: Status; wordCount: null; completedAt: null };

export type TranscriptionSummary =
  | (Completed<SummaryFields> & OutcomeDetails<"COMPLETED">)
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

/** Discriminated by `status`. */
export type Video = UploadingVideo | UploadedVideo;

export type CreatedVideo = contract.CreatedVideo & { video: UploadingVideo };
