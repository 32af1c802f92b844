import type { VideoState } from "@subtext/server/db/enums";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

const PAGE_SIZE = 50;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => request("GET /me", { signal }),
  staleTime: 60_000,
  // Another tab may have signed out.
  refetchOnWindowFocus: "always",
});

export const setupQuery = queryOptions({
  queryKey: ["setup"],
  queryFn: ({ signal }) => request("GET /setup", { signal }),
  staleTime: 0,
});

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: async ({ signal }) => (await request("GET /environments", { signal })).data,
  staleTime: 10_000,
});

export const operatorsQuery = queryOptions({
  queryKey: ["operators"],
  queryFn: async ({ signal }) => (await request("GET /operators", { signal })).data,
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: async ({ signal }) => (await request("GET /invitations", { signal })).data,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await request("GET /auth/sessions", { signal })).data,
});

export function videosKey(environmentId: string) {
  return ["videos", environmentId] as const;
}

export function videoCountsQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["video-counts", environmentId],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/video-counts", {
        params: { environment: environmentId },
        signal,
      }),
    refetchInterval: 60_000,
  });
}

export function videosQuery(environmentId: string, state: VideoState | null) {
  return infiniteQueryOptions({
    queryKey: [...videosKey(environmentId), state] as const,
    queryFn: ({ pageParam, signal }) =>
      request("GET /environments/:environment/videos", {
        params: { environment: environmentId },
        query: { limit: PAGE_SIZE, state: state ?? undefined, cursor: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    // Covers changes that the event stream missed.
    refetchInterval: 5 * 60_000,
  });
}
