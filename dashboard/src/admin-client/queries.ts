import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import type {
  InvitationView,
  MeView,
  OperatorView,
  SessionView,
  SetUpView,
} from "@subtext/server/admin/contract/operator";
import type { VideoCountsView, VideoPageView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

const PAGE_SIZE = 50;

/** Keys and readers of everything that is kept of the service's answers. */

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => request<MeView>("GET", "/me", { signal }),
  staleTime: 60_000,
  // Another tab may have signed out.
  refetchOnWindowFocus: "always",
});

export const setUpQuery = queryOptions({
  queryKey: ["set-up"],
  queryFn: ({ signal }) => request<SetUpView>("GET", "/set-up", { signal }),
  staleTime: 0,
});

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: async ({ signal }) =>
    (await request<{ data: EnvironmentView[] }>("GET", "/environments", { signal })).data,
  staleTime: 10_000,
});

export const operatorsQuery = queryOptions({
  queryKey: ["operators"],
  queryFn: async ({ signal }) =>
    (await request<{ data: OperatorView[] }>("GET", "/operators", { signal })).data,
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: async ({ signal }) =>
    (await request<{ data: InvitationView[] }>("GET", "/invitations", { signal })).data,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) =>
    (await request<{ data: SessionView[] }>("GET", "/auth/sessions", { signal })).data,
});

export function videosKey(environmentId: string) {
  return ["videos", environmentId] as const;
}

export function videoCountsQuery(environmentId: string) {
  return queryOptions({
    queryKey: ["video-counts", environmentId],
    queryFn: ({ signal }) =>
      request<VideoCountsView>("GET", `/environments/${environmentId}/video-counts`, { signal }),
    refetchInterval: 60_000,
  });
}

export function videosQuery(environmentId: string, state: VideoState | null) {
  return infiniteQueryOptions({
    queryKey: [...videosKey(environmentId), state] as const,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (state !== null) query.set("state", state);
      if (pageParam !== null) query.set("cursor", pageParam);
      return request<VideoPageView>("GET", `/environments/${environmentId}/videos?${query}`, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    // What happens comes by the stream; whatever it may lack comes so.
    refetchInterval: 5 * 60_000,
  });
}
