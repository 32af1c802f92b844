import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import {
  MAX_COUNTED_VIDEOS,
  type VideoChangesView,
  type VideoCountsView,
  type VideoView,
} from "@subtext/server/admin/contract/video";
import { VIDEO_STATES, type VideoState } from "@subtext/server/db/enums";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { videoCountsQuery, videosQuery } from "../../admin-client/queries.ts";
import { rememberEnvironment } from "../../hooks/last-environment.ts";
import { listenToKeys, type Shortcut } from "../../hooks/shortcuts.ts";
import { moveFocus, useArrowKeys } from "../../hooks/use-arrow-keys.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { UploadIcon } from "../../ui/icons.tsx";
import { EmptyState, Loading, PageHeader, ShowMore } from "../../ui/page.tsx";
import { ShortcutsHelp } from "../../ui/shortcuts-help.tsx";
import { STATE_NAMES, videoName } from "../../ui/video-state.tsx";
import { useUploads } from "../uploads/use-uploads.ts";
import { useFileDrop } from "./use-file-drop.ts";
import css from "./video-list-page.module.css";
import { VideoRow } from "./video-row.tsx";

const COUNT_DELAY_MS = 500;
const VIDEO_LINKS = "a[data-video]";
const LIST_SHORTCUTS: readonly Shortcut[] = [
  { keys: ["j", "↓"], action: "Next video" },
  { keys: ["k", "↑"], action: "Previous video" },
  { keys: ["Enter"], action: "Open video" },
  { keys: ["/"], action: "Search all transcripts" },
  { keys: ["?"], action: "Show keyboard shortcuts" },
];

export function VideoListPage() {
  const environment = useEnvironment();
  return <Videos key={environment.id} environment={environment} />;
}

function Videos({ environment }: { environment: EnvironmentView }) {
  const role = useRole();
  const canEdit = role !== "viewer";
  const { uploads } = useUploads();
  useEffect(() => rememberEnvironment(environment.id), [environment.id]);
  const add = useCallback(
    (files: Iterable<File>) => uploads.add(environment.id, files),
    [uploads, environment.id],
  );
  const isDragging = useFileDrop(canEdit ? add : null);
  const list = useRef<HTMLDivElement>(null);
  useArrowKeys(list, VIDEO_LINKS);
  const [announcement, announce] = useAnnouncement();
  const refreshCounts = useRefreshCounts(environment.id);
  const onChanges = useCallback(
    ({ videos }: VideoChangesView) => {
      for (const video of videos) announce(video);
      refreshCounts();
    },
    [announce, refreshCounts],
  );
  useLiveVideos(environment.id, onChanges, refreshCounts);

  return (
    <div className={css.page}>
      <PageHeader
        title="Videos"
        description={
          environment.aiTranscription ? (
            "New uploads are transcribed automatically."
          ) : (
            <TranscriptionOff environmentId={environment.id} canChange={role === "owner"} />
          )
        }
      >
        {canEdit && (
          <FileTrigger
            allowsMultiple
            acceptedFileTypes={["video/*", "audio/*", ".mkv", ".ts"]}
            onSelect={(files) => files && add(files)}
          >
            <Button variant="primary">
              <UploadIcon /> Upload videos
            </Button>
          </FileTrigger>
        )}
      </PageHeader>
      <div className={css.tools}>
        <Filters environmentId={environment.id} />
        <ListShortcuts list={list} />
      </div>
      <div ref={list}>
        <VideoList environmentId={environment.id} canUpload={canEdit} />
      </div>
      <p className={controls.hidden} role="status">
        {announcement}
      </p>
      {isDragging && (
        <div className={css.dropTarget}>
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

function ListShortcuts({ list }: { list: RefObject<HTMLElement | null> }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const move = (by: 1 | -1) => list.current && moveFocus(list.current, VIDEO_LINKS, by);
    return listenToKeys({ j: () => move(1), k: () => move(-1), "?": () => setOpen(true) });
  }, [list]);
  return <ShortcutsHelp isOpen={isOpen} onOpenChange={setOpen} shortcuts={LIST_SHORTCUTS} />;
}

/** Announces finished videos to screen readers. */
function useAnnouncement(): [string, (video: VideoView) => void] {
  const [text, setText] = useState("");
  const announce = useCallback((video: VideoView) => {
    if (["completed", "failed", "skipped"].includes(video.state)) {
      setText(`${videoName(video)}: ${STATE_NAMES[video.state]}`);
    }
  }, []);
  return [text, announce];
}

/** Refetches the counts after a delay, so that many changes cause one request. */
function useRefreshCounts(environmentId: string): () => void {
  const queryClient = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      queryClient.invalidateQueries(videoCountsQuery(environmentId));
    }, COUNT_DELAY_MS);
  }, [queryClient, environmentId]);
}

/** Returns e.g. `12` or `10,000+`, or an empty text for zero and until the counts are loaded. */
function countText(counts: VideoCountsView | undefined, state: VideoState | undefined): string {
  if (!counts) return "";
  const counted = state === undefined ? Object.values(counts) : [counts[state]];
  const sum = counted.reduce((total, count) => total + count, 0);
  if (sum === 0) return "";
  return `${sum.toLocaleString("en")}${counted.includes(MAX_COUNTED_VIDEOS) ? "+" : ""}`;
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
  // All loaded videos have left the list, but there are more pages.
  const needsRefetch = rows.length === 0 && videos.hasNextPage;
  useEffect(() => {
    if (needsRefetch) void refetch();
  }, [needsRefetch, refetch]);

  if (videos.error && !videos.data) return <ErrorNotice error={videos.error} />;
  if (videos.isPending) return <Loading />;
  if (rows.length === 0 && !videos.hasNextPage) {
    return (
      <EmptyState title={state === null ? "No videos yet" : `No ${STATE_NAMES[state].toLowerCase()} videos`}>
        {state === null && canUpload && "Drag and drop files here, or upload with the API."}
      </EmptyState>
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
      <ShowMore query={videos} />
    </>
  );
}
