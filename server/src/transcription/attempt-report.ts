import type { StageSeconds } from "@subtext/speech/transcript";
import type { TranscriptionRow } from "../db/schema.ts";

/**
 * The report on an ended attempt. The process that ran the attempt creates it; for a lost attempt, the process that
 * took over.
 */
export interface AttemptReport {
  transcriptionId: string;
  videoId: string;
  /** The transcription's `attempt`. */
  number: number;
  /** Earliest time at which the attempt could have started; null for a lost attempt. */
  queuedAt: Date | null;
  startedAt: Date;
  /** When the download of the recording ended. This and the next two are null if the attempt ended earlier. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
  transcribedAt: Date | null;
  endedAt: Date;
  outcome: ReportedOutcome;
  /** The failure code, or why there was nothing to transcribe. */
  reason: string | null;
  /** Null unless the transcription completed. */
  transcript: { engine: string; duration: number; wordCount: number; stages: StageSeconds } | null;
}

/** `dropped`: another attempt had taken over, or the video had been deleted. */
export type ReportedOutcome =
  | "completed"
  | "skipped"
  | "failed"
  | "returned"
  | "handed_back"
  | "lost"
  | "dropped";

/**
 * Creates the report on a lost attempt, whose crashed worker cannot create it.
 * @param row after the takeover
 * @param startedAt when the lost attempt began
 */
export function lostAttemptReport(row: TranscriptionRow, startedAt: Date): AttemptReport {
  return {
    transcriptionId: row.id,
    videoId: row.video_id,
    number: row.attempt - 1,
    queuedAt: null,
    startedAt,
    fetchedAt: null,
    decodedAt: null,
    transcribedAt: null,
    endedAt: row.started_at ?? startedAt,
    outcome: "lost",
    reason: null,
    transcript: null,
  };
}

/** Earliest start of a pending transcription: when it became PENDING, or when its next attempt is due. */
export function earliestStart({ queued_at, due_at }: TranscriptionRow): Date {
  return due_at && due_at > queued_at ? due_at : queued_at;
}
