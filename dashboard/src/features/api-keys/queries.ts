import type { ApiKeyPageView } from "@subtext/server/admin/contract/api-key";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

export function keysKey(environmentId: string) {
  return ["api-keys", environmentId] as const;
}

/** More than an environment may have. */
const ALL_VALID = 100;
const PAGE_SIZE = 20;

export function validKeysQuery(environmentId: string) {
  const path = `/environments/${environmentId}/api-keys?state=valid&limit=${ALL_VALID}`;
  return queryOptions({
    queryKey: [...keysKey(environmentId), "valid"],
    queryFn: async ({ signal }) => (await request<ApiKeyPageView>("GET", path, { signal })).data,
    // For the time of their last use.
    refetchInterval: 15_000,
  });
}

export function endedKeysQuery(environmentId: string) {
  return infiniteQueryOptions({
    queryKey: [...keysKey(environmentId), "ended"],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ state: "ended", limit: String(PAGE_SIZE) });
      if (pageParam !== null) query.set("cursor", pageParam);
      return request<ApiKeyPageView>("GET", `/environments/${environmentId}/api-keys?${query}`, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}
