import type { VideoChangesView, VideoView } from "@subtext/server/admin/contract/video";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { applyChange, type VideoAddress, videoQuery } from "./queries.ts";

/** Keeps the cached video up to date. Calls `onChange` when the video changes. */
export function useLiveVideo(address: VideoAddress, onChange: (video: VideoView) => void): void {
  const { environmentId, videoId } = address;
  const queryClient = useQueryClient();
  const refetch = useCallback(() => {
    const { queryKey } = videoQuery({ environmentId, videoId });
    queryClient.invalidateQueries({ queryKey });
  }, [environmentId, videoId, queryClient]);
  const receive = useCallback(
    ({ videos, deleted }: VideoChangesView) => {
      const video = videos.find(({ id }) => id === videoId);
      if (deleted.includes(videoId)) refetch();
      if (!video) return;
      const { queryKey } = videoQuery({ environmentId, videoId });
      const loaded = queryClient.getQueryData(queryKey);
      const updated = loaded && applyChange(loaded, video);
      if (updated) queryClient.setQueryData(queryKey, updated);
      else refetch();
      onChange(video);
    },
    [environmentId, videoId, queryClient, refetch, onChange],
  );
  useLiveVideos(environmentId, receive, refetch);
}
