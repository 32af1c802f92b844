import type { AttemptView, EventView, TimelineStepView } from "@subtext/server/admin/contract/video-detail";
import type { AttemptOutcome } from "@subtext/server/db/enums";
import { formatClock } from "../../ui/format.ts";

/** Formats a position for screen readers, e.g. `1 minute, 5 seconds`. */
export function spokenClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 3600), "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [whole % 60, "second"],
  ];
  const spoken = parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`);
  return spoken.join(", ") || "the beginning";
}

/** Returns e.g. `< 0.1 s`, `0.4 s`, `12 s`, `3 min 5 s` or `2 h 10 min`. */
export function formatElapsed(seconds: number): string {
  if (seconds < 0.05) return "< 0.1 s";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}

const STEP_NAMES: Record<TimelineStepView["step"], string> = {
  uploaded: "Uploaded",
  queued: "Queued",
  started: "Waiting for worker",
  prepared: "Engine start-up",
  decoded: "Decoded",
  transcribed: "Transcribed",
  stored: "Saved",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  delivered: "Delivered",
};

export function stepName({ step, endpointUrl }: TimelineStepView): string {
  return endpointUrl === undefined ? STEP_NAMES[step] : `${STEP_NAMES[step]} to ${hostOf(endpointUrl)}`;
}

export const OUTCOMES: Record<AttemptOutcome, string> = {
  completed: "Completed",
  skipped: "Skipped",
  failed: "Failed",
  returned: "Retrying later",
  handed_back: "Interrupted by restart",
  yielded: "Yielded to shorter jobs",
  lost: "Worker lost",
};

export const REASONS: Record<AttemptView["begunBy"], string> = {
  upload: "Initial attempt",
  resumption: "Resumed",
  retry: "Retry",
  reprocess: "Manual retry",
};

type Delivery = EventView["deliveries"][number];

export function deliveryText({ status, attempts }: Pick<Delivery, "status" | "attempts">): string {
  const times = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  if (status === "succeeded") return attempts === 1 ? "Delivered" : `Delivered after ${times}`;
  if (status === "failed") return `Failed after ${times}`;
  if (status === "canceled") return "Canceled";
  return attempts === 0 ? "Sending" : `Retrying (${times} so far)`;
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

export function formatRange(start: number, end: number): string {
  return `${formatClock(start)}–${formatClock(end)}`;
}
