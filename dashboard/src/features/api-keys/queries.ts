import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

export function apiKeysKey(environmentId: string) {
  return ["api-keys", environmentId] as const;
}

/** The maximum number of active keys per environment, so one page contains all of them. */
const MAX_ACTIVE_KEYS = 100;
const PAGE_SIZE = 20;

export function activeKeysQuery(environmentId: string) {
  return queryOptions({
    queryKey: [...apiKeysKey(environmentId), "valid"],
    queryFn: async ({ signal }) => {
      const page = await request("GET /environments/:environment/api-keys", {
        params: { environment: environmentId },
        query: { state: "valid", limit: MAX_ACTIVE_KEYS },
        signal,
      });
      return page.data;
    },
    // Keeps "last used" up to date.
    refetchInterval: 15_000,
  });
}

export function inactiveKeysQuery(environmentId: string) {
  return infiniteQueryOptions({
    queryKey: [...apiKeysKey(environmentId), "ended"],
    queryFn: ({ pageParam, signal }) =>
      request("GET /environments/:environment/api-keys", {
        params: { environment: environmentId },
        query: { state: "ended", limit: PAGE_SIZE, cursor: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}
