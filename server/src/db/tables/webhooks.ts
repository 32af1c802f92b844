import type { EventType, SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { ColumnType, Generated, JSONColumnType, Selectable } from "kysely";

export interface EventTable {
  id: string;
  environment_id: string;
  type: SentEventType;
  /** Null for a test event, which has an endpoint instead. */
  transcription_id: string | null;
  endpoint_id: string | null;
  /** Additional fields of failed and skipped events. */
  detail: JSONColumnType<EventDetail>;
  created_at: Date;
}

export interface EventDetail {
  /** The duration when the transcription failed. A later attempt may change the transcription's row. */
  duration?: number | null;
  error?: { code: string; message: string };
  reason?: string;
}

export interface WebhookEndpointTable {
  id: string;
  environment_id: string;
  url: string;
  event_types: JSONColumnType<EventType[]>;
  secret: string;
  /** After a rotation, signs deliveries together with `secret` for 24 hours. */
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  metadata: JSONColumnType<Record<string, unknown>>;
  created_at: Date;
  /** Time of the first failure since the last success. */
  failing_since: Date | null;
  disabled_at: Date | null;
  /** When the endpoint was last enabled again; null if it never was. */
  enabled_at: ColumnType<Date | null, never, Date>;
  disabled_reason: string | null;
}

export interface DeliveryTable {
  id: string;
  event_id: string;
  /** Copied from the event, so that indexes can contain it. */
  event_type: SentEventType;
  endpoint_id: string;
  status: DeliveryStatus;
  /** The only job that may make the next attempt. */
  job_id: string;
  attempts: Generated<number>;
  /** Attempts before the last manual redelivery, which restarts the retry schedule. */
  attempts_before: Generated<number>;
  next_attempt_at: Date | null;
  /**
   * Earliest time to which the next attempt may be brought forward. Set because of `Retry-After` or an earlier attempt
   * that was brought forward.
   */
  held_until: ColumnType<Date | null, never, Date | null>;
  /** Failed attempts that were brought forward. The retry schedule does not count them. */
  early_attempts: Generated<number>;
  created_at: Date;
  finished_at: Date | null;
}

export interface DeliveryAttemptTable {
  delivery_id: string;
  /** From 1. */
  number: number;
  attempted_at: Date;
  latency_ms: number;
  status_code: number | null;
  failure: string | null;
  /** The first 1 KiB of the response's body. */
  response_start: string | null;
}

export type EventRow = Selectable<EventTable>;
export type WebhookEndpointRow = Selectable<WebhookEndpointTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
export type DeliveryAttemptRow = Selectable<DeliveryAttemptTable>;
