import type { VideoState } from "../contract/video.ts";
import { Badge, type Tone } from "./badge.tsx";

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

export function StateBadge({ state }: { state: VideoState }) {
  return <Badge name={STATE_NAMES[state]} tone={TONES[state]} />;
}
