import type { StageSeconds } from "@subtext/speech/transcript";

/** What is told of an attempt at a transcription when it is over, by the process that made it. */
export interface AttemptReport {
  transcriptionId: string;
  videoId: string;
  /** The transcription's `attempt`. */
  number: number;
  /** Since when it could have begun. */
  queuedAt: Date;
  startedAt: Date;
  /** When the recording lay on this machine; null where the attempt ended before, as for the next two. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
  transcribedAt: Date | null;
  endedAt: Date;
  outcome: ReportedOutcome;
  /** The code of a failure, or why there was nothing to transcribe. */
  reason: string | null;
  /** Of one that completed. */
  transcript: { engine: string; duration: number; wordCount: number; stages: StageSeconds } | null;
}

/** `dropped`: another attempt, or the deletion of the video, had overtaken it. */
export type ReportedOutcome = "completed" | "skipped" | "failed" | "returned" | "handed_back" | "dropped";
