import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { VideoChangesView, VideoPageView, VideoState } from "../contract/video.ts";
import { meQuery, videosKey } from "./queries.ts";
import { applyChanges } from "./video-pages.ts";

/** A look at another window should not cost the stream each time. */
const HIDDEN_FOR_MS = 20_000;

/**
 * Keeps every list of the environment's videos that was read as it is now. A page that nobody sees lets its stream
 * go: a browser keeps six connections to a service, and a seventh page could load nothing.
 * @param onChanges told of the videos that look different, and of those that are gone
 * @param onGap told whenever changes may have been missed
 * @returns whether the stream stands
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
    const stream = new EventSource(`/internal/environments/${environmentId}/videos/changes`);
    const readAgain = () => {
      queryClient.invalidateQueries({ queryKey: key });
      onGap?.();
    };
    stream.addEventListener("open", () => {
      setLive(true);
      readAgain();
    });
    stream.addEventListener("error", () => {
      setLive(false);
      // An answer that is no stream ends it for good: most likely the session has ended.
      if (stream.readyState === EventSource.CLOSED) queryClient.invalidateQueries(meQuery);
    });
    stream.addEventListener("reload", readAgain);
    stream.addEventListener("change", ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as VideoChangesView;
      for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) {
        const state = query.queryKey[2] as VideoState | null;
        queryClient.setQueryData<InfiniteData<VideoPageView>>(
          query.queryKey,
          (known) => known && { ...known, pages: applyChanges(known.pages, state, changes) },
        );
      }
      onChanges(changes);
    });
    return () => stream.close();
  }, [environmentId, queryClient, onChanges, onGap, isSeen]);

  return isLive;
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
