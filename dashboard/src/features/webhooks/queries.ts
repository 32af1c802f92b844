import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";
import { SENT_EVENT_NAMES, STATUS_BADGES } from "./texts.ts";

const PAGE_SIZE = 25;
/** Polls because the page cannot compute when a pending attempt is due: its clock may differ from the server's. */
const PENDING_MS = 1_000;
const IDLE_MS = 10_000;

export function endpointsQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["webhook-endpoints", environmentId],
    queryFn: async ({ signal }) => {
      const params = { environment: environmentId };
      return (await request("GET /environments/:environment/webhook-endpoints", { params, signal })).data;
    },
    refetchInterval: IDLE_MS,
  });
}

export function endpointQuery(endpointId: string) {
  return queryOptions({
    queryKey: ["webhook-endpoint", endpointId, "endpoint"],
    queryFn: ({ signal }) => request("GET /webhook-endpoints/:id", { params: { id: endpointId }, signal }),
    refetchInterval: 5_000,
  });
}

/** Key prefix of all queries about one endpoint. */
export function endpointKey(endpointId: string) {
  return ["webhook-endpoint", endpointId] as const;
}

export interface DeliveryFilter {
  status?: DeliveryStatus;
  event?: SentEventType;
}

/** Ignores invalid search parameters. */
export function parseDeliveryFilter({ status, event }: Record<string, unknown>): DeliveryFilter {
  return {
    ...(typeof status === "string" &&
      Object.hasOwn(STATUS_BADGES, status) && { status: status as DeliveryStatus }),
    ...(typeof event === "string" &&
      Object.hasOwn(SENT_EVENT_NAMES, event) && { event: event as SentEventType }),
  };
}

export function deliveriesQuery(endpointId: string, { status, event }: DeliveryFilter) {
  return infiniteQueryOptions({
    queryKey: [...endpointKey(endpointId), "deliveries", status ?? null, event ?? null] as const,
    queryFn: ({ pageParam, signal }) =>
      request("GET /webhook-endpoints/:id/deliveries", {
        params: { id: endpointId },
        query: { limit: PAGE_SIZE, status, event, cursor: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: (query) => {
      const pages = query.state.data?.pages ?? [];
      // A refetch loads all pages again, so poll less frequently with many pages.
      if (pages.length > 4) return IDLE_MS * 3;
      const isPending = pages.some(({ data }) => data.some(({ status }) => status === "pending"));
      return isPending ? PENDING_MS * 2 : IDLE_MS / 2;
    },
  });
}

export function deliveryQuery(endpointId: string, deliveryId: string) {
  return queryOptions({
    queryKey: [...endpointKey(endpointId), "delivery", deliveryId],
    queryFn: ({ signal }) =>
      request("GET /webhook-endpoints/:id/deliveries/:delivery", {
        params: { id: endpointId, delivery: deliveryId },
        signal,
      }),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? PENDING_MS : IDLE_MS),
  });
}
