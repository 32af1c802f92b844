import type { AttemptOutcome, AttemptView, EventView, TimelineStepView } from "../contract/video-detail.ts";
import { clock } from "./words.ts";

/** Of a place in a recording, as it is read out: `1 minute, 5 seconds`. */
export function clockInWords(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 3600), "hour"],
    [Math.floor(whole / 60) % 60, "minute"],
    [whole % 60, "second"],
  ];
  const said = parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`);
  return said.join(", ") || "the beginning";
}

/** How long something took: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function took(seconds: number): string {
  if (seconds < 0.05) return "at once";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}

const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** `21 Nov 2026, 12:04:11`, where the reader is. */
export function when(time: string): string {
  return moment.format(new Date(time));
}

const STEPS: Record<TimelineStepView["step"], string> = {
  uploaded: "Uploaded",
  queued: "Queued",
  started: "Waited for a worker",
  prepared: "Engine made ready",
  decoded: "Decoded",
  transcribed: "Transcribed",
  stored: "Files written",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  delivered: "Delivered",
};

export function stepInWords({ step, endpointUrl }: TimelineStepView): string {
  return endpointUrl === undefined ? STEPS[step] : `${STEPS[step]} to ${hostOf(endpointUrl)}`;
}

export const OUTCOMES: Record<AttemptOutcome, string> = {
  completed: "Completed",
  skipped: "Skipped",
  failed: "Failed",
  returned: "Tried again later",
  handed_back: "Handed back, the service stopped",
  yielded: "Made way for others",
  lost: "Its worker ended",
};

export const BEGINNINGS: Record<AttemptView["begunBy"], string> = {
  upload: "After the upload",
  resumption: "Went on",
  retry: "Tried again",
  reprocess: "Reprocessed",
};

type Delivery = EventView["deliveries"][number];

export function deliveryInWords({ status, attempts }: Pick<Delivery, "status" | "attempts">): string {
  const times = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  if (status === "succeeded") return attempts === 1 ? "Delivered" : `Delivered after ${times}`;
  if (status === "failed") return `Given up after ${times}`;
  if (status === "canceled") return "Canceled";
  return attempts === 0 ? "On its way" : `Tried again after ${times}`;
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** `0:12–0:15` */
export function between(start: number, end: number): string {
  return `${clock(start)}–${clock(end)}`;
}
