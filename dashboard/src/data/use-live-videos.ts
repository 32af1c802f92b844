import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { VideoChangesView, VideoPageView, VideoState, VideoView } from "../contract/video.ts";
import { meQuery, videosKey } from "./queries.ts";
import { applyChanges } from "./video-pages.ts";

/**
 * Keeps every list of the environment's videos that was read as it is now.
 * @param onChange told of each video that looks different
 * @param onGap told whenever changes may have been missed
 * @returns whether the stream stands
 */
export function useLiveVideos(
  environmentId: string,
  onChange: (video: VideoView) => void,
  onGap?: () => void,
): boolean {
  const queryClient = useQueryClient();
  const [isLive, setLive] = useState(true);

  useEffect(() => {
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
      const { videos } = JSON.parse(data) as VideoChangesView;
      for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) {
        const state = query.queryKey[2] as VideoState | null;
        queryClient.setQueryData<InfiniteData<VideoPageView>>(
          query.queryKey,
          (known) => known && { ...known, pages: applyChanges(known.pages, state, videos) },
        );
      }
      for (const video of videos) onChange(video);
    });
    return () => stream.close();
  }, [environmentId, queryClient, onChange, onGap]);

  return isLive;
}
