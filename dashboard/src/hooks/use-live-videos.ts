import type { VideoChangesView, VideoPageView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useState } from "react";
import { meQuery, videosKey } from "../admin-client/queries.ts";
import { urlOf } from "../admin-client/request.ts";
import { applyVideoChanges } from "./video-changes.ts";

const HIDDEN_GRACE_MS = 20_000;
const MIN_RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 30_000;

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
    const refetch = () => {
      queryClient.invalidateQueries({ queryKey: key });
      onGap?.();
    };
    const receive = ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as VideoChangesView;
      for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) {
        const state = query.queryKey[2] as VideoState | null;
        queryClient.setQueryData<InfiniteData<VideoPageView>>(
          query.queryKey,
          (list) => list && { ...list, pages: applyVideoChanges(list.pages, state, changes) },
        );
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
    return () => {
      clearTimeout(timer);
      stream.close();
      setConnected(true);
    };
  }, [environmentId, queryClient, onChanges, onGap, setConnected, isVisible]);
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
