import type { EventType, SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryAttempt, DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import type { Tone } from "../../ui/badge.tsx";

export const EVENT_TEXTS: Record<EventType, { name: string; hint: string }> = {
  "transcriptions.transcription.completed": {
    name: "Completed",
    hint: "A transcription finished.",
  },
  "transcriptions.transcription.failed": {
    name: "Failed",
    hint: "A transcription failed (with the reason).",
  },
  "transcriptions.transcription.skipped": {
    name: "Skipped",
    hint: "Nothing to transcribe, e.g. no audio track.",
  },
  "transcriptions.transcription.updated": {
    name: "Updated",
    hint: "A transcript was corrected.",
  },
};

export const SENT_EVENT_NAMES: Record<SentEventType, string> = {
  "transcriptions.transcription.completed": EVENT_TEXTS["transcriptions.transcription.completed"].name,
  "transcriptions.transcription.failed": EVENT_TEXTS["transcriptions.transcription.failed"].name,
  "transcriptions.transcription.skipped": EVENT_TEXTS["transcriptions.transcription.skipped"].name,
  "transcriptions.transcription.updated": EVENT_TEXTS["transcriptions.transcription.updated"].name,
  "webhooks.endpoint.test": "Test",
};

interface BadgeProps {
  label: string;
  tone: Tone;
}

export const STATUS_BADGES: Record<DeliveryStatus, BadgeProps> = {
  pending: { label: "Retrying", tone: "wait" },
  succeeded: { label: "Delivered", tone: "good" },
  failed: { label: "Failed", tone: "bad" },
  canceled: { label: "Canceled", tone: "plain" },
};

/** Badge of a pending delivery before its first attempt. */
export const SENDING_BADGE: BadgeProps = { label: "Sending", tone: "busy" };

const FAILURES: Record<string, string> = {
  timeout: "Timed out",
  refused_address: "Address not allowed",
  dns: "Host not found",
  connection: "Connection failed",
  tls: "TLS handshake failed",
  protocol: "Invalid HTTP response",
};

/** Returns e.g. `HTTP 500` or `Timed out (…)`. */
export function responseText({
  statusCode,
  failure,
}: Pick<DeliveryAttempt, "statusCode" | "failure">): string {
  if (statusCode !== null) return `HTTP ${statusCode}`;
  if (failure === null) return "No response";
  const [reason = "", ...message] = failure.split(": ");
  const text = FAILURES[reason];
  return text ? `${text} (${message.join(": ")})` : failure;
}

export function healthBadge(endpoint: WebhookEndpointView): BadgeProps {
  if (!endpoint.enabled) return { label: "Disabled", tone: "plain" };
  if (endpoint.failingSince !== null) return { label: "Failing", tone: "bad" };
  return endpoint.health.latest === null
    ? { label: "Nothing sent yet", tone: "plain" }
    : { label: "Healthy", tone: "good" };
}

export function recentText({ health: { recent } }: WebhookEndpointView): string {
  const parts = [
    `${recent.succeeded.toLocaleString("en")} delivered`,
    recent.pending > 0 && `${recent.pending.toLocaleString("en")} retrying`,
    recent.failed + recent.canceled > 0 &&
      `${(recent.failed + recent.canceled).toLocaleString("en")} failed or canceled`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** Formats a time in the future, e.g. `in 4 minutes`. */
export function formatUntil(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1000;
  if (seconds < 5) return "now";
  const relative = new Intl.RelativeTimeFormat("en");
  if (seconds < 90) return relative.format(Math.round(seconds), "second");
  if (seconds < 5400) return relative.format(Math.round(seconds / 60), "minute");
  return relative.format(Math.round(seconds / 3600), "hour");
}
