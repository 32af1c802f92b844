import type { StageSeconds } from "@subtext/speech/transcript";
import type { TranscriptionRow } from "../db/schema.ts";

/**
 * The report on an attempt that has ended, made by the process that ran it, or by the process that took over a lost
 * attempt.
 */
export interface AttemptReport {
  transcriptionId: string;
  videoId: string;
  /** The transcription's `attempt`. */
  number: number;
  /** When it could first have started; null if no longer known. */
  queuedAt: Date | null;
  startedAt: Date;
  /** When the recording was on this machine; null if the attempt ended earlier, like the next two. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
  transcribedAt: Date | null;
  endedAt: Date;
  outcome: ReportedOutcome;
  /** The failure code, or why there was nothing to transcribe. */
  reason: string | null;
  /** Set if it completed. */
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
 * Reports the attempt before the one that has just started, whose worker crashed and cannot report it.
 * @param row after the takeover
 * @param startedAt when the lost attempt began
 */
export function lostAttempt(row: TranscriptionRow, startedAt: Date): AttemptReport {
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

/** When a pending transcription could first have started: when it became PENDING, or its next attempt was due. */
export function startableAt({ queued_at, due_at }: TranscriptionRow): Date {
  return due_at && due_at > queued_at ? due_at : queued_at;
}
