import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

const PAGE_SIZE = 25;
/** While something waits for an attempt. When that is due is not judged here: clocks differ. */
const WAITING_MS = 1_000;
const QUIET_MS = 10_000;

export function endpointsQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["webhook-endpoints", environmentId],
    queryFn: async ({ signal }) => {
      const params = { environment: environmentId };
      return (await request("GET /environments/:environment/webhook-endpoints", { params, signal })).data;
    },
    refetchInterval: QUIET_MS,
  });
}

export function endpointQuery(endpointId: string) {
  return queryOptions({
    queryKey: ["webhook-endpoint", endpointId, "endpoint"],
    queryFn: ({ signal }) => request("GET /webhook-endpoints/:id", { params: { id: endpointId }, signal }),
    refetchInterval: 5_000,
  });
}

/** Of everything that is known of one endpoint. */
export function endpointKey(endpointId: string) {
  return ["webhook-endpoint", endpointId] as const;
}

export interface DeliveryFilter {
  status?: DeliveryStatus;
  event?: SentEventType;
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
      // Every page that was read is read again: with many, less often.
      if (pages.length > 4) return QUIET_MS * 3;
      const waits = pages.some(({ data }) => data.some(({ status }) => status === "pending"));
      return waits ? WAITING_MS * 2 : QUIET_MS / 2;
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
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? WAITING_MS : QUIET_MS),
  });
}
