import type { TranscriptionSummaryView, VideoView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";
import { videoState as texts } from "../messages/en/video-state.ts";
import { Badge, type Tone } from "./badge.tsx";
import { serverCommand } from "./server-command.ts";

export function videoName({ filename, id }: Pick<VideoView, "filename" | "id">): string {
  return filename ?? id;
}

export const STATE_NAMES: Record<VideoState, string> = texts.states;

const TONES: Record<VideoState, Tone> = {
  uploading: "busy",
  pending: "wait",
  processing: "busy",
  completed: "good",
  failed: "bad",
  skipped: "plain",
  untranscribed: "plain",
};

export function StateBadge({
  video: { state, transcription },
}: {
  video: Pick<VideoView, "state" | "transcription">;
}) {
  // Highlight recordings with speech but without recognized words.
  const isUnrecognized = transcription?.language === "und" && emptyTranscriptText(transcription) !== null;
  return <Badge label={STATE_NAMES[state]} tone={isUnrecognized ? "wait" : TONES[state]} />;
}

/** Keyed by code. A newer release of the service may send others. */
const FAILURES: Partial<Record<string, FailureText>> = texts.failures;

interface FailureText {
  problem: string;
  /** `{command}` is replaced with `serverCommand`. */
  remedy: string;
}

export function failureText({
  code,
  message,
}: NonNullable<TranscriptionSummaryView["failure"]>): FailureText {
  const { problem, remedy } = FAILURES[code] ?? { problem: message, remedy: texts.seeLog };
  return { problem, remedy: remedy.replace("{command}", serverCommand()) };
}

const SKIP_REASONS: Partial<Record<string, string>> = texts.skipReasons;

export function skipReasonText(reason: string | null): string {
  return (reason !== null && SKIP_REASONS[reason]) || texts.nothingToTranscribe;
}

/** Returns why a completed transcription has no words; null if it has words. */
export function emptyTranscriptText(
  transcription: Pick<TranscriptionSummaryView, "wordCount" | "language"> | null,
): string | null {
  if (transcription?.wordCount !== 0) return null;
  return transcription.language === "und" ? texts.languageNotRecognized : texts.noSpeech;
}
