import type { VideoChangesView, VideoPageView, VideoView } from "@subtext/server/admin/contract/video";
import type { VideoState } from "@subtext/server/db/enums";

/**
 * The pages of a list, newest first, after some of its videos have changed: those that are on a page change
 * there, or leave it where they are no longer in the list's state or are gone; new ones go where their age puts
 * them.
 * Those that would stand behind the last page that was read come with the next.
 */
export function applyChanges(
  pages: readonly VideoPageView[],
  state: VideoState | null,
  { videos, deleted }: VideoChangesView,
): VideoPageView[] {
  const news = new Map(videos.map((video) => [video.id, video]));
  const gone = new Set(deleted);
  const belongs = (video: VideoView) => !gone.has(video.id) && (state === null || video.state === state);

  const kept = pages.map((page) => ({
    ...page,
    data: page.data.flatMap((video) => {
      const now = news.get(video.id) ?? video;
      news.delete(video.id);
      return belongs(now) ? [now] : [];
    }),
  }));

  // Ids sort by the making of their videos.
  for (const video of news.values()) {
    if (!belongs(video)) continue;
    const page = kept.find(({ data, nextCursor }) => {
      const last = data.at(-1);
      return nextCursor === null || (last !== undefined && last.id < video.id);
    });
    if (!page) continue;
    const place = page.data.findIndex(({ id }) => id < video.id);
    page.data.splice(place === -1 ? page.data.length : place, 0, video);
  }
  return kept;
}
