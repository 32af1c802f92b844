import type { EventType, SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryAttempt, DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import type { Tone } from "../../ui/badge.tsx";

/** The kinds of event that an endpoint can ask for. */
export const EVENT_WORDS: Record<EventType, { name: string; hint: string }> = {
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
};

export const SENT_EVENT_NAMES: Record<SentEventType, string> = {
  "transcriptions.transcription.completed": EVENT_WORDS["transcriptions.transcription.completed"].name,
  "transcriptions.transcription.failed": EVENT_WORDS["transcriptions.transcription.failed"].name,
  "transcriptions.transcription.skipped": EVENT_WORDS["transcriptions.transcription.skipped"].name,
  "webhooks.endpoint.test": "Test",
};

export const STATUS_WORDS: Record<DeliveryStatus, { name: string; tone: Tone }> = {
  pending: { name: "Retrying", tone: "wait" },
  succeeded: { name: "Delivered", tone: "good" },
  failed: { name: "Failed", tone: "bad" },
  canceled: { name: "Canceled", tone: "plain" },
};

/** Of a pending delivery before its first attempt. */
export const SENDING: { name: string; tone: Tone } = { name: "Sending", tone: "busy" };

const FAILURES: Record<string, string> = {
  timeout: "Timed out",
  refused_address: "Address not allowed",
  dns: "Host not found",
  connection: "Connection failed",
  tls: "No secure connection",
  protocol: "Invalid HTTP response",
};

/** What came of an attempt, in a few words. */
export function answerInWords({
  statusCode,
  failure,
}: Pick<DeliveryAttempt, "statusCode" | "failure">): string {
  if (statusCode !== null) return `HTTP ${statusCode}`;
  if (failure === null) return "No response";
  const [reason = "", ...message] = failure.split(": ");
  const words = FAILURES[reason];
  return words ? `${words} (${message.join(": ")})` : failure;
}

/** How an endpoint is, and what there is to say of it. */
export function healthOf(endpoint: WebhookEndpointView): { name: string; tone: Tone } {
  if (!endpoint.enabled) return { name: "Disabled", tone: "plain" };
  if (endpoint.failingSince !== null) return { name: "Failing", tone: "bad" };
  return endpoint.health.latest === null
    ? { name: "Nothing sent yet", tone: "plain" }
    : { name: "Healthy", tone: "good" };
}

export function recentInWords({ health: { recent } }: WebhookEndpointView): string {
  const parts = [
    `${recent.succeeded.toLocaleString("en")} delivered`,
    recent.pending > 0 && `${recent.pending.toLocaleString("en")} retrying`,
    recent.failed + recent.canceled > 0 &&
      `${(recent.failed + recent.canceled).toLocaleString("en")} failed or canceled`,
  ];
  return parts.filter(Boolean).join(", ");
}

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Date and time to the second, where the reader is. */
export function moment(time: string): string {
  return MOMENT.format(new Date(time));
}

/** Of what is to come: `in 4 minutes`. */
export function until(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1000;
  if (seconds < 5) return "now";
  const relative = new Intl.RelativeTimeFormat("en");
  if (seconds < 90) return relative.format(Math.round(seconds), "second");
  if (seconds < 5400) return relative.format(Math.round(seconds / 60), "minute");
  return relative.format(Math.round(seconds / 3600), "hour");
}
