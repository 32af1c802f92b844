import type { VideoChangesView, VideoPageView, VideoView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";

/**
 * Applies changes to the loaded pages of a video list, which is sorted newest first. Updates loaded videos, or removes
 * them if they were deleted or no longer match `state`. Inserts new videos, except those that are older than the loaded
 * pages: they load with the next page.
 */
export function applyVideoChanges(
  pages: readonly VideoPageView[],
  state: VideoState | null,
  { videos, deleted }: VideoChangesView,
): VideoPageView[] {
  const changed = new Map(videos.map((video) => [video.id, video]));
  const deletedIds = new Set(deleted);
  const belongs = (video: VideoView) =>
    !deletedIds.has(video.id) && (state === null || video.state === state);

  const updated = pages.map((page) => ({
    ...page,
    data: page.data.flatMap((video) => {
      const current = changed.get(video.id) ?? video;
      changed.delete(video.id);
      return belongs(current) ? [current] : [];
    }),
  }));

  // IDs sort by creation time.
  for (const video of changed.values()) {
    if (!belongs(video)) continue;
    const page = updated.find(({ data, nextCursor }) => {
      const last = data.at(-1);
      return nextCursor === null || (last !== undefined && last.id < video.id);
    });
    if (!page) continue;
    const index = page.data.findIndex(({ id }) => id < video.id);
    page.data.splice(index === -1 ? page.data.length : index, 0, video);
  }
  return updated;
}

/**
 * Updates and removes the loaded videos of a list in any order and with any filter. A video stays where it is until the
 * list is loaded again.
 * @returns the pages, and whether the server may now list other videos or another order
 */
export function updateLoadedVideos(
  pages: readonly VideoPageView[],
  { videos, deleted }: VideoChangesView,
): { pages: VideoPageView[]; isOutdated: boolean } {
  const changed = new Map(videos.map((video) => [video.id, video]));
  const deletedIds = new Set(deleted);
  let isOutdated = false;
  const updated = pages.map((page) => {
    if (!page.data.some(({ id }) => changed.has(id) || deletedIds.has(id))) return page;
    const data = page.data.flatMap((video) => {
      const current = changed.get(video.id) ?? video;
      changed.delete(video.id);
      isOutdated ||= current.state !== video.state;
      return deletedIds.has(video.id) ? [] : [current];
    });
    return { ...page, data };
  });
  return { pages: updated, isOutdated: isOutdated || changed.size > 0 };
}
