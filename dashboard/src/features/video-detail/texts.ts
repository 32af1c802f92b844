import type { EventView, TimelineStepView } from "@subtext/server/admin/contract/video-detail";
import { format } from "../../messages/en/format.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { formatClock, formatDecimal } from "../../ui/format.ts";

/** Formats a position for screen readers, e.g. `1 minute, 5 seconds`. */
export function spokenClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts: [number, (count: number) => string][] = [
    [Math.floor(whole / 3600), texts.spokenHours],
    [Math.floor(whole / 60) % 60, texts.spokenMinutes],
    [whole % 60, texts.spokenSeconds],
  ];
  const spoken = parts.filter(([count]) => count > 0).map(([count, textOf]) => textOf(count));
  return spoken.join(", ") || texts.beginning;
}

/** Returns e.g. `< 0.1 s`, `0.4 s`, `12 s`, `3 min 5 s` or `2 h 10 min`. */
export function formatElapsed(seconds: number): string {
  if (seconds < 0.05) return `< ${format.seconds(formatDecimal(0.1))}`;
  if (seconds < 10) return format.seconds(formatDecimal(seconds));
  const whole = Math.round(seconds);
  if (whole < 60) return format.seconds(String(whole));
  if (whole < 3600)
    return `${format.minutes(String(Math.floor(whole / 60)))} ${format.seconds(String(whole % 60))}`;
  return `${format.hours(String(Math.floor(whole / 3600)))} ${format.minutes(String(Math.floor(whole / 60) % 60))}`;
}

/** Returns the speaker's name; e.g. `Channel 2` if nobody has named the speaker of the channel, else null. */
export function speakerLabel(speaker: string | null, channel: number | null): string | null {
  return speaker ?? (channel === null ? null : texts.channel(channel));
}

export function stepName({ step, endpointUrl }: TimelineStepView): string {
  return endpointUrl === undefined ? texts.steps[step] : texts.stepTo(texts.steps[step], hostOf(endpointUrl));
}

type Delivery = EventView["deliveries"][number];

export function deliveryText({ status, attempts }: Pick<Delivery, "status" | "attempts">): string {
  if (status === "succeeded") return attempts === 1 ? texts.delivered : texts.deliveredAfter(attempts);
  if (status === "failed") return texts.failedAfter(attempts);
  if (status === "canceled") return texts.canceled;
  return attempts === 0 ? texts.sending : texts.retryingAfter(attempts);
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

export function formatRange(start: number, end: number): string {
  return `${formatClock(start)}–${formatClock(end)}`;
}
