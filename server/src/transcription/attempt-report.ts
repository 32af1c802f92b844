import type { StageSeconds } from "@subtext/speech/transcript";
import type { TranscriptionRow } from "../db/schema.ts";

/**
 * What is told of an attempt at a transcription when it is over, by the process that made it; of one that was lost,
 * by the one that took over.
 */
export interface AttemptReport {
  transcriptionId: string;
  videoId: string;
  /** The transcription's `attempt`. */
  number: number;
  /** Since when it could have begun; null where that is not known any more. */
  queuedAt: Date | null;
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
export type ReportedOutcome =
  | "completed"
  | "skipped"
  | "failed"
  | "returned"
  | "handed_back"
  | "lost"
  | "dropped";

/**
 * The attempt before the one that has just begun, whose worker died and tells nothing of it.
 * @param row after it was taken over
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

/** When a transcription that waits could have been taken: when it became PENDING, or its next attempt was due. */
export function couldBeginAt({ queued_at, created_at, due_at }: TranscriptionRow): Date {
  const queuedAt = queued_at ?? created_at;
  return due_at && due_at > queuedAt ? due_at : queuedAt;
}
