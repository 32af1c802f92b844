import type { SentEventType } from "@subtext/client/contract/webhook";
import type { Delivery, DeliveryStatus, WebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";

/** Of deliveries that were made within so many hours before now. */
export const RECENT_HOURS = 24;

/** All times are ISO 8601 UTC with milliseconds. The signing secret is not in it: see `…/reveal-secret`. */
export type WebhookEndpointView = WebhookEndpoint & {
  health: {
    /** Null where nothing was sent yet. */
    latest: {
      deliveryId: string;
      eventType: SentEventType;
      status: DeliveryStatus;
      createdAt: string;
      /** Of its last attempt; null where none was made, or no answer came. */
      statusCode: number | null;
      failure: string | null;
    } | null;
    /** How many recent deliveries are in each state. */
    recent: Record<DeliveryStatus, number>;
  };
};

/** What an attempt sent: made again from what is stored, with the times and the secrets of then. */
export interface AttemptRequestView {
  /** Of the attempt. */
  number: number;
  url: string;
  headers: Record<string, string>;
  /** JSON. */
  body: string;
}

export type DeliveryView = Delivery & {
  /** Whose transcription the event is about; null for a test event. */
  video: { id: string; filename: string | null } | null;
};

/** Newest first. */
export interface DeliveryPageView {
  data: DeliveryView[];
  /** Cursor of the next page; null on the last. */
  nextCursor: string | null;
}

export type DeliveryDetailView = DeliveryView & { requests: AttemptRequestView[] };

/** What the service thinks of a URL before anything is sent to it. */
export interface UrlVerdictView {
  /** Why it is refused, for people; null where it is taken. */
  reason: string | null;
}
