import type { VideoView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";
import { Badge, type Tone } from "./badge.tsx";
import { emptyTranscript } from "./format.ts";

export const STATE_NAMES: Record<VideoState, string> = {
  uploading: "Uploading",
  pending: "Pending",
  processing: "Processing",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  untranscribed: "Not transcribed",
};

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
  // Somebody spoke, but no words were recognized: that is not what the owner wanted.
  const isUnrecognized = transcription?.language === "und" && emptyTranscript(transcription) !== null;
  return <Badge name={STATE_NAMES[state]} tone={isUnrecognized ? "wait" : TONES[state]} />;
}
