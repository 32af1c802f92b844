import type { VideoChangesView, VideoPageView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { meQuery, videosKey } from "../admin-client/queries.ts";
import { urlOf } from "../admin-client/request.ts";
import { applyChanges } from "./apply-video-changes.ts";

/** A look at another window should not cost the stream each time. */
const HIDDEN_FOR_MS = 20_000;
const FIRST_RECONNECT_MS = 1_000;
const MOST_RECONNECT_MS = 30_000;

/**
 * Keeps every list of the environment's videos that was read as it is now. A page that nobody sees lets its stream
 * go: a browser keeps six connections to a service, and a seventh page could load nothing.
 * @param onChanges told of the videos that look different, and of those that are gone
 * @param onGap told whenever changes may have been missed
 * @returns whether the stream is open, or is about to be opened for the first time
 */
export function useLiveVideos(
  environmentId: string,
  onChanges: (changes: VideoChangesView) => void,
  onGap?: () => void,
): boolean {
  const queryClient = useQueryClient();
  const [isLive, setLive] = useState(true);
  const isSeen = useSeen(HIDDEN_FOR_MS);

  useEffect(() => {
    if (!isSeen) return;
    const key = videosKey(environmentId);
    let stream: EventSource;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAgain = () => {
      queryClient.invalidateQueries({ queryKey: key });
      onGap?.();
    };
    const take = ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as VideoChangesView;
      for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) {
        const state = query.queryKey[2] as VideoState | null;
        queryClient.setQueryData<InfiniteData<VideoPageView>>(
          query.queryKey,
          (known) => known && { ...known, pages: applyChanges(known.pages, state, changes) },
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
        setLive(true);
        readAgain();
      });
      stream.addEventListener("error", () => {
        setLive(false);
        // The browser reconnects by itself, except after a response that is not a stream: a proxy's, or a 401.
        if (stream.readyState !== EventSource.CLOSED) return;
        queryClient.invalidateQueries(meQuery);
        timer = setTimeout(connect, reconnectDelayMs(failures));
        failures += 1;
      });
      stream.addEventListener("reload", readAgain);
      stream.addEventListener("change", take);
    };
    connect();
    return () => {
      clearTimeout(timer);
      stream.close();
      setLive(true);
    };
  }, [environmentId, queryClient, onChanges, onGap, isSeen]);

  return isLive;
}

/** Exponential with jitter, so that the pages of all operators do not reconnect at the same moment. */
function reconnectDelayMs(failures: number): number {
  return Math.min(MOST_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Whether the page is seen, or was a moment ago. */
function useSeen(forMs: number): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setSeen(true);
      else timer = setTimeout(() => setSeen(false), forMs);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [forMs]);
  return isSeen;
}
