import type { SentEventType } from "@subtext/client/contract/webhook";
import type { Delivery, DeliveryStatus, WebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";

/** Deliveries created within this many hours count as recent. */
export const RECENT_HOURS = 24;

/** All times are ISO 8601 UTC with milliseconds. The signing secret is not included; see `…/reveal-secret`. */
export type WebhookEndpointView = WebhookEndpoint & {
  health: {
    /** Null if nothing has been sent yet. */
    latest: {
      deliveryId: string;
      eventType: SentEventType;
      status: DeliveryStatus;
      createdAt: string;
      /** Status code of the last attempt; null if there was no attempt or no response. */
      statusCode: number | null;
      failure: string | null;
    } | null;
    recent: Record<DeliveryStatus, number>;
  };
};

/** The request of a delivery attempt, rendered again from stored data with the times and secrets of that attempt. */
export interface AttemptRequestView {
  number: number;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export type DeliveryView = Delivery & {
  /** The video of the event's transcription; null for a test event. */
  video: { id: string; filename: string | null } | null;
};

/** Newest first. */
export interface DeliveryPageView {
  data: DeliveryView[];
  nextCursor: string | null;
}

export type DeliveryDetailView = DeliveryView & { requests: AttemptRequestView[] };

export interface UrlCheckView {
  /** Why the URL is rejected, for display; null if it is accepted. */
  reason: string | null;
}
