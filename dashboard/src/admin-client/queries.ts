import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request, urlOf } from "./request.ts";
import { toListQuery, type VideoListView } from "./video-list-view.ts";

const PAGE_SIZE = 100;
const MAX_REFETCHED_PAGES = 10;

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

export function videoFiltersQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["video-filters", environmentId],
    queryFn: ({ signal }) =>
      request("GET /environments/:environment/video-filters", {
        params: { environment: environmentId },
        signal,
      }),
    staleTime: 30_000,
  });
}

export function videosQuery(environmentId: string, view: VideoListView) {
  return infiniteQueryOptions({
    queryKey: [...videosKey(environmentId), view] as const,
    queryFn: ({ pageParam, signal }) =>
      request("GET /environments/:environment/videos", {
        params: { environment: environmentId },
        query: { ...toListQuery(view), limit: PAGE_SIZE, cursor: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    // Covers changes that the event stream missed.
    refetchInterval: (query) => isShort(query.state.data) && 5 * 60_000,
    refetchOnMount: (query) => isShort(query.state.data),
    refetchOnWindowFocus: (query) => isShort(query.state.data),
    refetchOnReconnect: (query) => isShort(query.state.data),
    // Comparing 100,000 videos after each change would take longer than a frame.
    structuralSharing: false,
  });
}

/** Returns the URL of a video's frame; see `PosterView`. */
export function posterUrl({ environmentId, videoId }: { environmentId: string; videoId: string }): string {
  return urlOf("GET /environments/:environment/videos/:video/poster", {
    params: { environment: environmentId, video: videoId },
  });
}

/** Returns whether a list is short enough to be refetched, which takes one request per page. */
export function isShort(list: { pages: readonly unknown[] } | undefined): boolean {
  return (list?.pages.length ?? 0) <= MAX_REFETCHED_PAGES;
}

/** Whether changes to a list that is too long to be refetched were missed. */
export function outdatedQuery(environmentId: string, view: VideoListView) {
  return queryOptions({
    queryKey: ["videos-outdated", environmentId, view] as const,
    queryFn: () => false,
    enabled: false,
    initialData: false as boolean,
  });
}
