import type { VideoView } from "@subtext/server/admin/contract/video";
import { videoState as texts } from "../messages/en/video-state.ts";
import { formatEstimate } from "./format.ts";

/** Later positions are not shown, because they say little about when the transcription starts. */
const MAX_SHOWN_POSITION = 20;

/** Returns e.g. `9th in queue · starts in about 4 min`. */
export function queueText({
  queuePosition: position,
  startsInSeconds,
}: Pick<VideoView, "queuePosition" | "startsInSeconds">): string {
  const estimate = startsInSeconds === null ? null : formatEstimate(startsInSeconds);
  if (position === null || position > MAX_SHOWN_POSITION) {
    return estimate === null ? texts.inQueue : texts.startsIn(estimate);
  }
  const place = position === 1 ? texts.nextInQueue : texts.placeInQueue(position);
  return estimate === null ? place : texts.placeAndStart(place, estimate);
}
