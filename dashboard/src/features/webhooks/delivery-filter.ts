import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { DeliveryFilter } from "./queries.ts";
import { SENT_EVENT_NAMES, STATUS_BADGES } from "./texts.ts";

/** Parses the page's search parameters; invalid ones are ignored. */
export function parseDeliveryFilter({ status, event }: Record<string, unknown>): DeliveryFilter {
  return {
    ...(typeof status === "string" &&
      Object.hasOwn(STATUS_BADGES, status) && { status: status as DeliveryStatus }),
    ...(typeof event === "string" &&
      Object.hasOwn(SENT_EVENT_NAMES, event) && { event: event as SentEventType }),
  };
}
