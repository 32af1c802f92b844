import type { VideoChangesView, VideoView } from "@subtext/server/admin/contract/video";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { applyChange, type VideoAddress, videoQuery } from "./queries.ts";

/**
 * Keeps what was read of a video as it is now.
 * @param onChange told when it comes to look different
 * @returns whether the stream stands
 */
export function useLiveVideo(address: VideoAddress, onChange: (video: VideoView) => void): boolean {
  const { environmentId, videoId } = address;
  const queryClient = useQueryClient();
  const readAgain = useCallback(() => {
    const { queryKey } = videoQuery({ environmentId, videoId });
    queryClient.invalidateQueries({ queryKey });
  }, [environmentId, videoId, queryClient]);
  const take = useCallback(
    ({ videos, deleted }: VideoChangesView) => {
      const video = videos.find(({ id }) => id === videoId);
      if (deleted.includes(videoId)) readAgain();
      if (!video) return;
      const { queryKey } = videoQuery({ environmentId, videoId });
      const known = queryClient.getQueryData(queryKey);
      const now = known && applyChange(known, video);
      if (now) queryClient.setQueryData(queryKey, now);
      else readAgain();
      onChange(video);
    },
    [environmentId, videoId, queryClient, readAgain, onChange],
  );
  return useLiveVideos(environmentId, take, readAgain);
}
