import type { VideoChangesView, VideoPageView } from "@subtext/server/admin/contract/video";
import { type InfiniteData, type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useState } from "react";
import { isShort, meQuery, outdatedQuery, videosKey } from "../admin-client/queries.ts";
import { urlOf } from "../admin-client/request.ts";
import { isNewestFirst, type VideoListView } from "../admin-client/video-list-view.ts";
import { applyVideoChanges, updateLoadedVideos } from "./video-changes.ts";

const HIDDEN_GRACE_MS = 20_000;
const MIN_RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 30_000;
/** Minimum interval between refetches because of changes whose place in a list only the server knows. */
const REFETCH_INTERVAL_MS = 3_000;

/** Called when the connection for live updates is opened or lost. */
export const LiveUpdatesContext = createContext<(isConnected: boolean) => void>(() => {});

/**
 * Keeps the cached video lists of an environment up to date with server-sent events. A page that stays hidden closes
 * its stream, because browsers allow only six connections per server over HTTP/1.1.
 * @param onChanges receives the videos that changed or were deleted
 * @param onGap called when changes may have been missed
 */
export function useLiveVideos(
  environmentId: string,
  onChanges: (changes: VideoChangesView) => void,
  onGap?: () => void,
): void {
  const queryClient = useQueryClient();
  const setConnected = useContext(LiveUpdatesContext);
  const isVisible = usePageVisible(HIDDEN_GRACE_MS);

  useEffect(() => {
    if (!isVisible) return;
    const key = videosKey(environmentId);
    let stream: EventSource;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let refetchTimer: ReturnType<typeof setTimeout> | undefined;
    const outdated = new Set<QueryKey>();
    const refetch = () => {
      for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) {
        refetchList(queryClient, query.queryKey);
      }
      onGap?.();
    };
    const refetchSoon = (queryKey: QueryKey) => {
      outdated.add(queryKey);
      refetchTimer ??= setTimeout(() => {
        refetchTimer = undefined;
        for (const each of outdated) refetchList(queryClient, each);
        outdated.clear();
      }, REFETCH_INTERVAL_MS);
    };
    const receive = ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as VideoChangesView;
      for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: key })) {
        const list = queryClient.getQueryData<InfiniteData<VideoPageView>>(queryKey);
        if (!list) continue;
        const view = queryKey[2] as VideoListView;
        const { pages, isOutdated } = isNewestFirst(view)
          ? { pages: applyVideoChanges(list.pages, view.state ?? null, changes), isOutdated: false }
          : updateLoadedVideos(list.pages, changes);
        queryClient.setQueryData<InfiniteData<VideoPageView>>(queryKey, { ...list, pages });
        if (isOutdated) refetchSoon(queryKey);
      }
      onChanges(changes);
    };
    const connect = () => {
      stream = new EventSource(
        urlOf("GET /environments/:environment/videos/changes", { params: { environment: environmentId } }),
      );
      stream.addEventListener("open", () => {
        failures = 0;
        setConnected(true);
        refetch();
      });
      stream.addEventListener("error", () => {
        setConnected(false);
        // The browser reconnects automatically, except after a response that is not a stream, such as a 401.
        if (stream.readyState !== EventSource.CLOSED) return;
        queryClient.invalidateQueries(meQuery);
        timer = setTimeout(connect, reconnectDelayMs(failures));
        failures += 1;
      });
      stream.addEventListener("reload", refetch);
      stream.addEventListener("change", receive);
    };
    connect();
    const controller = new AbortController();
    const { signal } = controller;
    // Browsers keep pages to go back to, with their streams. Closes it without waiting for a render.
    const disconnect = () => {
      clearTimeout(timer);
      stream.close();
    };
    addEventListener("pagehide", disconnect, { signal });
    addEventListener("pageshow", ({ persisted }) => persisted && connect(), { signal });
    return () => {
      controller.abort();
      disconnect();
      clearTimeout(refetchTimer);
      setConnected(true);
    };
  }, [environmentId, queryClient, onChanges, onGap, setConnected, isVisible]);
}

/** A list that is too long is only marked as outdated. The page then offers to load it again. */
function refetchList(queryClient: QueryClient, queryKey: QueryKey): void {
  const list = queryClient.getQueryData<InfiniteData<VideoPageView>>(queryKey);
  if (isShort(list)) {
    queryClient.invalidateQueries({ queryKey, exact: true });
    return;
  }
  const [, environmentId, view] = queryKey as [string, string, VideoListView];
  queryClient.setQueryData(outdatedQuery(environmentId, view).queryKey, true);
}

/** Exponential backoff with jitter, so that not all pages reconnect simultaneously. */
function reconnectDelayMs(failures: number): number {
  return Math.min(MAX_RECONNECT_MS, MIN_RECONNECT_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Returns true until the page has been hidden for the grace period. */
function usePageVisible(graceMs: number): boolean {
  const [isVisible, setVisible] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setVisible(true);
      else timer = setTimeout(() => setVisible(false), graceMs);
    };
    update();
    document.addEventListener("visibilitychange", update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", update);
    };
  }, [graceMs]);
  return isVisible;
}
