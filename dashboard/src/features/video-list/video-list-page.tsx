import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import {
  COUNTED_VIDEOS,
  type VideoChangesView,
  type VideoCountsView,
  type VideoView,
} from "@subtext/server/admin/contract/video";
import { VIDEO_STATES, type VideoState } from "@subtext/server/db/enums";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { videoCountsQuery, videosQuery } from "../../admin-client/queries.ts";
import { messageOf } from "../../admin-client/request.ts";
import { keepLastEnvironment } from "../../hooks/last-environment.ts";
import { useReportLive } from "../../hooks/live-updates.ts";
import { listenToKeys, type Shortcut } from "../../hooks/shortcuts.ts";
import { step, useArrows } from "../../hooks/use-arrow-keys.ts";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { UploadIcon } from "../../ui/icons.tsx";
import { InEnvironment } from "../../ui/in-environment.tsx";
import pageCss from "../../ui/page.module.css";
import { Loading, PageHeader } from "../../ui/page.tsx";
import { ShortcutsHelp } from "../../ui/shortcuts-help.tsx";
import { STATE_NAMES } from "../../ui/video-state.tsx";
import { useUploads } from "../uploads/use-uploads.ts";
import { useDrop } from "./use-file-drop.ts";
import css from "./video-list-page.module.css";
import { VideoRow, videoName } from "./video-row.tsx";

const COUNT_AFTER_MS = 500;
const VIDEO_LINKS = "a[data-video]";
const LIST_SHORTCUTS: readonly Shortcut[] = [
  { keys: ["j", "↓"], does: "Next video" },
  { keys: ["k", "↑"], does: "Previous video" },
  { keys: ["Enter"], does: "Open video" },
  { keys: ["/"], does: "Search all transcripts" },
  { keys: ["?"], does: "Show keyboard shortcuts" },
];

export function VideosPage() {
  const { environmentId } = useParams({ from: "/signed-in/environments/$environmentId/videos" });
  return (
    <InEnvironment environmentId={environmentId}>
      {(environment) => <Videos key={environment.id} environment={environment} />}
    </InEnvironment>
  );
}

function Videos({ environment }: { environment: EnvironmentView }) {
  const { isOwner } = useMe();
  const { uploads } = useUploads();
  useEffect(() => keepLastEnvironment(environment.id), [environment.id]);
  const add = useCallback(
    (files: Iterable<File>) => uploads.add(environment.id, files),
    [uploads, environment.id],
  );
  const isOver = useDrop(isOwner ? add : null);
  const list = useRef<HTMLDivElement>(null);
  useArrows(list, VIDEO_LINKS);
  const [announcement, announce] = useAnnouncement();
  const countAgain = useFreshCounts(environment.id);
  const onChanges = useCallback(
    ({ videos }: VideoChangesView) => {
      for (const video of videos) announce(video);
      countAgain();
    },
    [announce, countAgain],
  );
  useReportLive(useLiveVideos(environment.id, onChanges, countAgain));

  return (
    <div className={css.page}>
      <PageHeader
        title="Videos"
        lead={
          environment.aiTranscription ? (
            "New uploads are transcribed automatically."
          ) : (
            <TranscriptionOff environmentId={environment.id} canChange={isOwner} />
          )
        }
      >
        {isOwner && (
          <FileTrigger
            allowsMultiple
            acceptedFileTypes={["video/*", "audio/*", ".mkv", ".ts"]}
            onSelect={(files) => files && add(files)}
          >
            <Button look="primary">
              <UploadIcon /> Upload videos
            </Button>
          </FileTrigger>
        )}
      </PageHeader>
      <div className={css.tools}>
        <Filters environmentId={environment.id} />
        <ListKeys list={list} />
      </div>
      <div ref={list}>
        <VideoList environmentId={environment.id} canUpload={isOwner} />
      </div>
      <p className={controls.hidden} role="status">
        {announcement}
      </p>
      {isOver && (
        <div className={css.dropHere}>
          <p>Drop to upload to {environment.name}</p>
        </div>
      )}
    </div>
  );
}

function TranscriptionOff({ environmentId, canChange }: { environmentId: string; canChange: boolean }) {
  return (
    <>
      AI Transcription is off. New uploads won't be transcribed.{" "}
      {canChange && (
        <Link to="/environments/$environmentId/settings" params={{ environmentId }}>
          Turn on
        </Link>
      )}
    </>
  );
}

/** Single keys that lead through the list, and the button that tells of them. */
function ListKeys({ list }: { list: RefObject<HTMLElement | null> }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const go = (by: 1 | -1) => list.current && step(list.current, VIDEO_LINKS, by);
    return listenToKeys({ j: () => go(1), k: () => go(-1), "?": () => setOpen(true) });
  }, [list]);
  return <ShortcutsHelp isOpen={isOpen} onOpenChange={setOpen} shortcuts={LIST_SHORTCUTS} />;
}

/** Says in words that a video has come to an end, for whoever does not see the list change. */
function useAnnouncement(): [string, (video: VideoView) => void] {
  const [text, setText] = useState("");
  const announce = useCallback((video: VideoView) => {
    if (["completed", "failed", "skipped"].includes(video.state)) {
      setText(`${videoName(video)}: ${STATE_NAMES[video.state]}`);
    }
  }, []);
  return [text, announce];
}

/** Counts the videos of each state anew, soon after something has changed and not at every change. */
function useFreshCounts(environmentId: string): () => void {
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      queryClient.invalidateQueries(videoCountsQuery(environmentId));
    }, COUNT_AFTER_MS);
  }, [queryClient, environmentId]);
}

/** `12`, `10,000+`; nothing where there are none, or it is not known yet. */
function countText(counts: VideoCountsView | undefined, state: VideoState | undefined): string {
  if (!counts) return "";
  const counted = state === undefined ? Object.values(counts) : [counts[state]];
  const sum = counted.reduce((total, count) => total + count, 0);
  if (sum === 0) return "";
  return `${sum.toLocaleString("en")}${counted.includes(COUNTED_VIDEOS) ? "+" : ""}`;
}

function Filters({ environmentId }: { environmentId: string }) {
  const { state: current } = useSearch({ from: "/signed-in/environments/$environmentId/videos" });
  const { data: counts } = useQuery(videoCountsQuery(environmentId));
  const link = (state: VideoState | undefined) => (
    <li key={state ?? "all"}>
      <Link
        className={css.filter}
        to="/environments/$environmentId/videos"
        params={{ environmentId }}
        search={state === undefined ? {} : { state }}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={state === current ? "page" : undefined}
      >
        {state === undefined ? "All" : STATE_NAMES[state]}{" "}
        <span className={css.count}>{countText(counts, state)}</span>
      </Link>
    </li>
  );
  return (
    <nav aria-label="Filter videos">
      <ul className={css.filters}>{[undefined, ...VIDEO_STATES].map(link)}</ul>
    </nav>
  );
}

function VideoList({ environmentId, canUpload }: { environmentId: string; canUpload: boolean }) {
  const { state = null } = useSearch({ from: "/signed-in/environments/$environmentId/videos" });
  const videos = useInfiniteQuery(videosQuery(environmentId, state));
  const now = useNow(30_000);
  const rows = useMemo(() => videos.data?.pages.flatMap(({ data }) => data) ?? [], [videos.data]);
  const { refetch } = videos;
  // All that was read has gone elsewhere, and more stands behind it.
  const isUsedUp = rows.length === 0 && videos.hasNextPage;
  useEffect(() => {
    if (isUsedUp) void refetch();
  }, [isUsedUp, refetch]);

  if (videos.error && !videos.data) return <Notice tone="bad">{messageOf(videos.error)}</Notice>;
  if (videos.isPending) return <Loading />;
  if (rows.length === 0 && !videos.hasNextPage) {
    return (
      <div className={pageCss.empty}>
        <h2>{state === null ? "No videos yet" : `No ${STATE_NAMES[state].toLowerCase()} videos`}</h2>
        {state === null && canUpload && <p>Drag and drop files here, or upload with the API.</p>}
      </div>
    );
  }
  return (
    <>
      <ul className={css.list} aria-label="Videos">
        {rows.map((video) => (
          <li key={video.id}>
            <VideoRow video={video} now={now} />
          </li>
        ))}
      </ul>
      {videos.hasNextPage && (
        <div className={css.more}>
          <Button onPress={() => videos.fetchNextPage()} isPending={videos.isFetchingNextPage}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
