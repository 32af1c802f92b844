import type { EnvironmentSummaryView } from "@subtext/server/admin/contract/environment";
import type { VideoChangesView, VideoView } from "@subtext/server/admin/contract/video";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { videoCountsQuery } from "../../admin-client/queries.ts";
import { rememberEnvironment } from "../../hooks/last-environment.ts";
import { listenToKeys, type Shortcut } from "../../hooks/shortcuts.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { useRole } from "../../hooks/use-me.ts";
import { shell } from "../../messages/en/shell.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { UploadIcon } from "../../ui/icons.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { ShortcutsHelp } from "../../ui/shortcuts/shortcuts-help.tsx";
import { STATE_NAMES, videoName } from "../../ui/video-state.tsx";
import { useUploads } from "../uploads/use-uploads.ts";
import { BulkOperations } from "./bulk-operations.tsx";
import { MoreFilters, NameFilter, StateFilter, useChangeView } from "./filters.tsx";
import { useFileDrop } from "./use-file-drop.ts";
import { VideoList } from "./video-list.tsx";
import css from "./video-list-page.module.css";

const COUNT_DELAY_MS = 500;
const LIST_SHORTCUTS: readonly Shortcut[] = [
  { keys: ["j", "↓"], action: texts.shortcuts.next },
  { keys: ["k", "↑"], action: texts.shortcuts.previous },
  { keys: [texts.keys.home, texts.keys.end], action: texts.shortcuts.firstOrLast },
  { keys: [texts.keys.enter], action: texts.shortcuts.open },
  { keys: [texts.keys.space], action: texts.shortcuts.select },
  { keys: ["⇧ ↓", "⇧ ↑"], action: texts.shortcuts.selectRange },
  { keys: ["/"], action: texts.shortcuts.search },
  { keys: [`${shell.controlKey}+K`], action: shell.palette.title },
  { keys: ["?"], action: texts.shortcuts.help },
];

export function VideoListPage() {
  const environment = useEnvironment();
  return <Videos key={environment.id} environment={environment} />;
}

function Videos({ environment }: { environment: EnvironmentSummaryView }) {
  const role = useRole();
  const canEdit = role !== "viewer";
  const { uploads } = useUploads();
  useEffect(() => rememberEnvironment(environment.id), [environment.id]);
  const add = useCallback(
    (files: Iterable<File>) => uploads.add(environment.id, files),
    [uploads, environment.id],
  );
  const isDragging = useFileDrop(canEdit ? add : null);
  const view = useSearch({ from: "/signed-in/environments/$environmentId/videos" });
  const changeView = useChangeView();
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
        title={texts.title}
        description={
          environment.aiTranscription ? (
            texts.transcribedAutomatically
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
              <UploadIcon /> {texts.upload}
            </Button>
          </FileTrigger>
        )}
      </PageHeader>
      <div className={css.tools}>
        <StateFilter environmentId={environment.id} view={view} />
        <ListShortcuts />
      </div>
      <div className={css.search}>
        <NameFilter view={view} onChange={changeView} />
        <MoreFilters environmentId={environment.id} view={view} onChange={changeView} />
      </div>
      <BulkOperations environmentId={environment.id} />
      <VideoList key={JSON.stringify(view)} environmentId={environment.id} view={view} canUpload={canEdit} />
      <p className={controls.hidden} role="status">
        {announcement}
      </p>
      {isDragging && (
        <div className={css.dropTarget}>
          <p>{texts.dropToUpload(environment.name)}</p>
        </div>
      )}
    </div>
  );
}

function TranscriptionOff({ environmentId, canChange }: { environmentId: string; canChange: boolean }) {
  return (
    <RichText
      parts={texts.transcriptionOff(
        (label) =>
          canChange && (
            <Link to="/environments/$environmentId/settings" params={{ environmentId }}>
              {label}
            </Link>
          ),
      )}
    />
  );
}

function ListShortcuts() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => listenToKeys({ "?": () => setOpen(true) }), []);
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
