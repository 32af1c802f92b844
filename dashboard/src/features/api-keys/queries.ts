import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";

export function keysKey(environmentId: string) {
  return ["api-keys", environmentId] as const;
}

/** More than an environment may have. */
const ALL_VALID = 100;
const PAGE_SIZE = 20;

export function validKeysQuery(environmentId: string) {
  return queryOptions({
    queryKey: [...keysKey(environmentId), "valid"],
    queryFn: async ({ signal }) => {
      const query = { state: "valid", limit: ALL_VALID } as const;
      return (
        await request("GET /environments/:environment/api-keys", {
          params: { environment: environmentId },
          query,
          signal,
        })
      ).data;
    },
    // For the time of their last use.
    refetchInterval: 15_000,
  });
}

export function endedKeysQuery(environmentId: string) {
  return infiniteQueryOptions({
    queryKey: [...keysKey(environmentId), "ended"],
    queryFn: ({ pageParam, signal }) => {
      const query = { state: "ended", limit: PAGE_SIZE, cursor: pageParam ?? undefined } as const;
      return request("GET /environments/:environment/api-keys", {
        params: { environment: environmentId },
        query,
        signal,
      });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
}
