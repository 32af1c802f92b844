import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useMemo } from "react";
import { outdatedQuery, videosQuery } from "../../admin-client/queries.ts";
import type { VideoListView } from "../../admin-client/video-list-view.ts";
import { ui } from "../../messages/en/ui.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Notice } from "../../ui/forms/controls.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState } from "../../ui/page.tsx";
import { hasFilter } from "./filters.tsx";
import { useSelection } from "./use-selection.ts";
import css from "./video-list-page.module.css";
import { TableSkeleton, VideoTable } from "./video-table.tsx";

const SelectionBar = lazy(async () => ({ default: (await import("./selection-bar.tsx")).SelectionBar }));

/** The videos of a view. Loads more as the end comes into view. */
export function VideoList({
  environmentId,
  view,
  canUpload,
}: {
  environmentId: string;
  view: VideoListView;
  canUpload: boolean;
}) {
  const list = useInfiniteQuery(videosQuery(environmentId, view));
  const videos = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const ids = useMemo(() => videos.map(({ id }) => id), [videos]);
  const selection = useSelection(ids);
  const { refetch, fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list;
  // All loaded videos have left the list, but there are more pages.
  const needsRefetch = videos.length === 0 && hasNextPage;
  useEffect(() => {
    if (needsRefetch) void refetch();
  }, [needsRefetch, refetch]);
  const canLoad = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !list.isPlaceholderData;
  const loadMore = useCallback(() => {
    if (canLoad) void fetchNextPage();
  }, [canLoad, fetchNextPage]);

  if (!list.data && list.errorUpdateCount > 0) return <LoadState query={list} />;
  if (list.isPending || needsRefetch) {
    return (
      <>
        <p className={controls.hidden} role="status">
          {ui.loading}
        </p>
        <TableSkeleton />
      </>
    );
  }
  if (videos.length === 0) return <NoVideos view={view} canUpload={canUpload} />;
  return (
    <div data-stale={list.isPlaceholderData || undefined} className={css.list}>
      <Outdated environmentId={environmentId} view={view} />
      <VideoTable
        videos={videos}
        ids={ids}
        selection={selection}
        isComplete={!hasNextPage}
        onEndVisible={loadMore}
      />
      {isFetchNextPageError && (
        <div className={css.failed}>
          <ErrorNotice error={list.error} />
          <Button onPress={() => fetchNextPage()}>{ui.tryAgain}</Button>
        </div>
      )}
      {selection.count > 0 && (
        <Suspense fallback={null}>
          <SelectionBar environmentId={environmentId} view={view} videos={videos} selection={selection} />
        </Suspense>
      )}
    </div>
  );
}

function NoVideos({ view, canUpload }: { view: VideoListView; canUpload: boolean }) {
  const { state, ...rest } = view;
  if (hasFilter(rest)) {
    return (
      <EmptyState title={texts.noMatching}>
        <Link
          from="/environments/$environmentId/videos"
          to="."
          search={state === undefined ? {} : { state }}
          replace
        >
          {texts.clearFilters}
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState title={state === undefined ? texts.noneYet : texts.noneInState[state]}>
      {state === undefined && canUpload && texts.howToUpload}
    </EmptyState>
  );
}

function Outdated({ environmentId, view }: { environmentId: string; view: VideoListView }) {
  const queryClient = useQueryClient();
  const { data: isOutdated } = useQuery(outdatedQuery(environmentId, view));
  if (!isOutdated) return null;
  const reload = () => {
    queryClient.setQueryData(outdatedQuery(environmentId, view).queryKey, false);
    scrollTo({ top: 0, behavior: "instant" });
    void queryClient.resetQueries({ queryKey: videosQuery(environmentId, view).queryKey, exact: true });
  };
  return (
    <div className={css.outdated}>
      <Notice tone="plain">
        {texts.outdated} <Button onPress={reload}>{texts.reload}</Button>
      </Notice>
    </div>
  );
}
