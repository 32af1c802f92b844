import type { StageSeconds } from "@subtext/speech/transcript";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";

/**
 * Describes an ended attempt for metrics and traces. The process that ran the attempt creates the report. If that
 * process was lost, the one that takes over does.
 */
export interface AttemptReport {
  transcriptionId: string;
  videoId: string;
  number: number;
  /** When the attempt could have started; null for a lost attempt. */
  queuedAt: Date | null;
  startedAt: Date;
  /** When the recording was downloaded. This and the next two times are null if the attempt ended earlier. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
  transcribedAt: Date | null;
  endedAt: Date;
  outcome: ReportedOutcome;
  /** The failure code or the reason for skipping. */
  reason: string | null;
  /** Null unless the outcome is `completed`. */
  transcript: { engine: string; duration: number; wordCount: number; stages: StageSeconds } | null;
}

/** `dropped`: the transcription was canceled or taken over, or its video was deleted. */
export type ReportedOutcome =
  | "completed"
  | "skipped"
  | "failed"
  | "returned"
  | "handed_back"
  | "lost"
  | "dropped";

/**
 * @param row the transcription after the takeover
 * @param startedAt when the lost attempt started
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

export function earliestStart({ queued_at, due_at }: TranscriptionRow): Date {
  return due_at && due_at > queued_at ? due_at : queued_at;
}
