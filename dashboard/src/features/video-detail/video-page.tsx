import type { VideoChangesView, VideoView } from "@subtext/server/admin/contract/video";
import type { VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import { posterUrl } from "../../admin-client/queries.ts";
import { ProblemError } from "../../admin-client/request.ts";
import { usePageCommands } from "../../hooks/page-commands.ts";
import { useLiveVideos } from "../../hooks/use-live-videos.ts";
import { useRole } from "../../hooks/use-me.ts";
import { shell } from "../../messages/en/shell.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { NotFoundPage } from "../../ui/error-pages.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { BackIcon } from "../../ui/icons.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import pageCss from "../../ui/page.module.css";
import { Loading, PageHeader } from "../../ui/page.tsx";
import { emptyTranscriptText, STATE_NAMES, StateBadge, videoName } from "../../ui/video-state.tsx";
import { UnsavedChanges } from "./correction/unsaved-changes.tsx";
import { Details } from "./details.tsx";
import { Languages } from "./languages.tsx";
import { Playback } from "./player/playback.ts";
import { Player } from "./player/player.tsx";
import { WaveformPlaceholder, WaveformSlider } from "./player/waveform-slider.tsx";
import {
  applyChange,
  captionsUrl,
  transcriptQuery,
  type VideoAddress,
  videoQuery,
  waveformQuery,
} from "./queries.ts";
import { RecordingDeleted, VideoStatus } from "./status.tsx";
import type { ReadingPosition } from "./transcript/reading-position.ts";
import { Transcript } from "./transcript/transcript.tsx";
import { DeleteVideo, TranscribeAsNewVideo } from "./video-actions.tsx";
import css from "./video-page.module.css";

// Loaded separately, because most visitors only read.
const TranscriptEditor = lazy(async () => ({
  default: (await import("./correction/transcript-editor.tsx")).TranscriptEditor,
}));

const ROUTE = "/signed-in/environments/$environmentId/videos/$videoId";

export function VideoPage() {
  const address = useParams({ from: ROUTE });
  const { t } = useSearch({ from: ROUTE });
  const video = useQuery(videoQuery(address));
  const canEdit = useRole() !== "viewer";
  const [announcement, setAnnouncement] = useState("");
  const announce = useCallback(({ state }: VideoView) => setAnnouncement(STATE_NAMES[state]), []);
  useLiveVideo(address, announce);

  if (video.error instanceof ProblemError && video.error.status === 404) return <NotFoundPage />;
  const name = video.data ? videoName(video.data) : null;
  return (
    <div className={css.page}>
      <Link
        className={pageCss.back}
        to="/environments/$environmentId/videos"
        params={{ environmentId: address.environmentId }}
      >
        <BackIcon /> {texts.videos}
      </Link>
      <PageHeader
        title={name ?? shell.pages.video}
        isLoading={video.isPending}
        description={video.data && <StateBadge video={video.data} />}
      >
        {canEdit && video.data && canTranscribeAsNew(video.data) && (
          <TranscribeAsNewVideo address={address} />
        )}
        {canEdit && name !== null && <DeleteVideo address={address} name={name} />}
      </PageHeader>
      <LoadState query={video} />
      {video.data && <Video address={address} video={video.data} startSeconds={t ?? null} />}
      <p className={controls.hidden} role="status">
        {announcement}
      </p>
    </div>
  );
}

interface VideoProps {
  address: VideoAddress;
  video: VideoDetailView;
  /** Where playback starts in seconds, from the URL; null to open the page paused at the beginning. */
  startSeconds: number | null;
}

function Video({ address, video, startSeconds }: VideoProps) {
  const canEdit = useRole() !== "viewer";
  const [playback] = useState(() => new Playback());
  const stage = useRef<HTMLDivElement>(null);
  const coveredHeight = useCallback(
    () => Math.max(0, stage.current?.getBoundingClientRect().bottom ?? 0),
    [],
  );
  const [position] = useState<ReadingPosition>({ seconds: null, offset: 0, isFollowing: true });
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const transcriptPanel = useRef<HTMLDivElement>(null);
  const changeMode = (mode: "read" | "edit") => {
    setEditing(mode === "edit");
    const element = transcriptPanel.current;
    const { activeElement } = document;
    // The focused button is about to be removed. If the user moved the focus elsewhere during a slow save, it stays there.
    const losesFocus = element?.contains(activeElement) || activeElement === document.body;
    if (mode === "edit" || losesFocus) element?.focus({ preventScroll: true });
  };
  const [panel, setPanel] = useState<"transcript" | "details">("transcript");
  const { state, media, transcription } = video;
  const isCompleted = state === "completed";
  const isFinished = isCompleted || state === "skipped" || state === "failed";
  const finishedAt = transcription?.finishedAt ?? null;
  const empty = isCompleted ? emptyTranscriptText(transcription) : null;
  const hasTranscript = isCompleted && empty === null;
  const wordsEtag = transcription?.wordsEtag ?? null;
  const transcript = useQuery({
    ...transcriptQuery(address, wordsEtag),
    enabled: hasTranscript,
    // After a correction, the previous transcript stays until the new one is loaded.
    placeholderData: keepPreviousData,
  });
  const waveform = useQuery({
    ...waveformQuery(address, finishedAt),
    enabled: isFinished && transcription?.hasWaveform === true,
  });
  const captions = isCompleted
    ? { url: captionsUrl(address, wordsEtag), language: transcription?.language ?? "und" }
    : null;
  const name = videoName(video);

  useEffect(() => {
    if (startSeconds !== null) playback.playFrom(startSeconds);
  }, [playback, startSeconds]);

  return (
    <div className={css.columns} data-panel={panel} data-transcript={isCompleted || undefined}>
      {!isCompleted && <VideoStatus address={address} video={video} />}
      {video.recordingDeletedAt !== null && (
        <RecordingDeleted at={video.recordingDeletedAt} hasTranscript={hasTranscript} />
      )}
      {media && (
        <div className={css.stage} ref={stage}>
          <Player
            name={name}
            media={media}
            poster={video.poster?.kind === "frame" ? posterUrl(address) : null}
            hasSoundOnly={video.poster?.kind === "levels"}
            captions={captions}
            playback={playback}
            hasTranscript={hasTranscript}
            help={{ isOpen: isHelpOpen, onOpenChange: setHelpOpen }}
          />
          {waveform.isLoading && <WaveformPlaceholder />}
          {waveform.data && waveform.data.duration > 0 && (
            <WaveformSlider waveform={waveform.data} playback={playback} />
          )}
          {transcription?.languageSegments && transcription.duration !== null && (
            <Languages segments={transcription.languageSegments} duration={transcription.duration} />
          )}
        </div>
      )}
      {isCompleted && <VideoStatus address={address} video={video} />}
      {isCompleted && (
        <fieldset className={css.panelSwitch} aria-label={texts.show}>
          {(["transcript", "details"] as const).map((value) => (
            <button key={value} type="button" aria-pressed={panel === value} onClick={() => setPanel(value)}>
              {texts[value]}
            </button>
          ))}
        </fieldset>
      )}
      {isCompleted && (
        <div className={css.transcript} ref={transcriptPanel} tabIndex={-1}>
          {hasTranscript && <LoadState query={transcript} />}
          {canEdit && !isEditing && (
            <UnsavedChanges videoId={address.videoId} onContinue={() => changeMode("edit")} />
          )}
          {empty !== null && !isEditing && (
            <div className={pageCss.empty}>
              <p>{empty}.</p>
              {canEdit && <Button onPress={() => changeMode("edit")}>{texts.edit}</Button>}
            </div>
          )}
          {canEdit && !isEditing && <EditCommand onEdit={() => changeMode("edit")} />}
          {isEditing && (
            <Suspense fallback={<Loading />}>
              <TranscriptEditor
                address={address}
                video={video}
                playback={playback}
                coveredHeight={coveredHeight}
                position={position}
                onDone={() => changeMode("read")}
              />
            </Suspense>
          )}
          {transcript.data && !isEditing && (
            <Transcript
              address={address}
              video={video}
              transcript={transcript.data}
              playback={playback}
              coveredHeight={coveredHeight}
              position={position}
              onEdit={canEdit ? () => changeMode("edit") : undefined}
            />
          )}
        </div>
      )}
      <div className={css.details}>
        <Details video={video} />
      </div>
    </div>
  );
}

function EditCommand({ onEdit }: { onEdit(): void }) {
  usePageCommands({ name: texts.editTranscript, run: onEdit });
  return null;
}

/** Failures that another engine or model may avoid. After other failures, the page offers only to retry. */
const LANGUAGE_FAILURES = ["language_undetermined", "language_unsupported"];

function canTranscribeAsNew({ state, media, transcription }: VideoDetailView): boolean {
  if (media === null) return false;
  if (state === "completed" || state === "untranscribed") return true;
  return state === "failed" && LANGUAGE_FAILURES.includes(transcription?.failure?.code ?? "");
}

/** Keeps the cached video up to date. Calls `onChange` when the video changes, but not when it is deleted. */
function useLiveVideo(address: VideoAddress, onChange: (video: VideoView) => void): void {
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
