import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryAttempt, DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import type { Tone } from "../../ui/badge.tsx";

const { eventTypes } = texts;

export const SENT_EVENT_NAMES: Record<SentEventType, string> = {
  "transcriptions.transcription.completed": eventTypes["transcriptions.transcription.completed"].name,
  "transcriptions.transcription.failed": eventTypes["transcriptions.transcription.failed"].name,
  "transcriptions.transcription.skipped": eventTypes["transcriptions.transcription.skipped"].name,
  "transcriptions.transcription.updated": eventTypes["transcriptions.transcription.updated"].name,
  "webhooks.endpoint.test": texts.testEvent,
};

/** Returns the code itself for an event that only a newer release of the service has. */
export function eventName(type: SentEventType): string {
  return SENT_EVENT_NAMES[type] ?? type;
}

interface BadgeProps {
  label: string;
  tone: Tone;
}

export const STATUS_BADGES: Record<DeliveryStatus, BadgeProps> = {
  pending: { label: texts.deliveryStatus.pending, tone: "wait" },
  succeeded: { label: texts.deliveryStatus.succeeded, tone: "good" },
  failed: { label: texts.deliveryStatus.failed, tone: "bad" },
  canceled: { label: texts.deliveryStatus.canceled, tone: "plain" },
};

/** Returns the code itself for a status that only a newer release of the service has. */
export function statusBadge(status: DeliveryStatus): BadgeProps {
  return STATUS_BADGES[status] ?? { label: status, tone: "plain" };
}

/** Badge of a pending delivery before its first attempt. */
export const SENDING_BADGE: BadgeProps = { label: texts.sending, tone: "busy" };

const FAILURES: Record<string, string> = texts.failures;

/** Returns e.g. `HTTP 500` or `Timed out (…)`. */
export function responseText({
  statusCode,
  failure,
}: Pick<DeliveryAttempt, "statusCode" | "failure">): string {
  if (statusCode !== null) return `HTTP ${statusCode}`;
  if (failure === null) return texts.noResponse;
  const [reason = "", ...message] = failure.split(": ");
  const text = FAILURES[reason];
  return text ? `${text} (${message.join(": ")})` : failure;
}

export function healthBadge(endpoint: WebhookEndpointView): BadgeProps {
  if (!endpoint.enabled) return { label: texts.disabled, tone: "plain" };
  if (endpoint.failingSince !== null) return { label: texts.failing, tone: "bad" };
  return endpoint.health.latest === null
    ? { label: texts.nothingSent, tone: "plain" }
    : { label: texts.healthy, tone: "good" };
}

export function recentText({ health: { recent } }: WebhookEndpointView): string {
  const parts = [
    texts.deliveredCount(recent.succeeded),
    recent.pending > 0 && texts.retryingCount(recent.pending),
    recent.failed + recent.canceled > 0 && texts.failedCount(recent.failed + recent.canceled),
  ];
  return parts.filter(Boolean).join(", ");
}
