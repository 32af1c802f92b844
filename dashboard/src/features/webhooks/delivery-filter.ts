import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { DeliveryFilter } from "./queries.ts";
import { SENT_EVENT_NAMES, STATUS_WORDS } from "./texts.ts";

/** From the address of a page; what is not known there is left out. */
export function readDeliveryFilter({ status, event }: Record<string, unknown>): DeliveryFilter {
  return {
    ...(typeof status === "string" &&
      Object.hasOwn(STATUS_WORDS, status) && { status: status as DeliveryStatus }),
    ...(typeof event === "string" &&
      Object.hasOwn(SENT_EVENT_NAMES, event) && { event: event as SentEventType }),
  };
}
