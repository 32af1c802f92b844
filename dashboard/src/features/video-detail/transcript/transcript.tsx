import type { FileFormat } from "@subtext/client/contract/transcription";
import { SPEAKER_FORMATS, type VideoDetailView } from "@subtext/server/admin/contract/video-detail";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { usePageCommands } from "../../../hooks/page-commands.ts";
import { listenToKeys } from "../../../hooks/shortcuts.ts";
import { ui } from "../../../messages/en/ui.ts";
import { videoDetail as texts } from "../../../messages/en/video-detail.ts";
import { ActionMenu } from "../../../ui/action-menu/action-menu.tsx";
import { copyText } from "../../../ui/copy.tsx";
import controls from "../../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Switch } from "../../../ui/forms/controls.tsx";
import { CopyIcon, DownloadIcon, EditIcon, FollowIcon } from "../../../ui/icons.tsx";
import type { Playback } from "../player/playback.ts";
import { fileUrl, speakerFileUrl, type VideoAddress, videoQuery } from "../queries.ts";
import { spokenClock } from "../texts.ts";
import { type ReadingPosition, useReadingPosition } from "./reading-position.ts";
import css from "./transcript.module.css";
import { TranscriptController } from "./transcript-controller.ts";
import {
  plainText,
  quote,
  type Transcript as TranscriptModel,
  textWithTimestamps,
} from "./transcript-model.ts";
import { TranscriptSearchField } from "./transcript-search-field.tsx";
import { TranscriptText } from "./transcript-text.tsx";

interface TranscriptProps {
  address: VideoAddress;
  video: VideoDetailView;
  transcript: TranscriptModel;
  playback: Playback;
  /** Height of the player, which covers the top of the window on phones. */
  coveredHeight(): number;
  position: ReadingPosition;
  /** Undefined if the operator may not correct the transcript. */
  onEdit?: (() => void) | undefined;
}

const NONE: never[] = [];

/** @param props.transcript has at least one word */
export function Transcript(props: TranscriptProps) {
  const { address, video, transcript, playback, coveredHeight, position, onEdit } = props;
  const root = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [controller, setController] = useState<TranscriptController | null>(null);
  const [isFollowing, setFollowing] = useState(position.isFollowing);
  const [showLowConfidence, setShowLowConfidence] = useState(true);
  const [cursorText, setCursorText] = useState("");
  const [notice, setNotice] = useState({ text: "", count: 0 });

  useEffect(() => {
    const created = new TranscriptController({
      root: root.current!,
      transcript,
      playback,
      coveredHeight,
      isFollowing: position.isFollowing,
      onFollowingChange(isFollowing) {
        position.isFollowing = isFollowing;
        setFollowing(isFollowing);
      },
      onCursorMove: (word) => setCursorText(announcementOf(transcript, word)),
    });
    const stop = created.start();
    setController(created);
    return stop;
  }, [transcript, playback, coveredHeight, position]);
  useReadingPosition(root, position, coveredHeight);

  const copy = useCallback(async (text: string, what: string) => {
    const result = (await copyText(text)) ? texts.copied(what) : ui.copyBlocked;
    setNotice(({ count }) => ({ text: result, count: count + 1 }));
  }, []);
  useEffect(
    () =>
      listenToKeys({
        "/": () => {
          input.current?.focus();
          input.current?.select();
        },
        c: () => {
          const selected = controller?.selectedWords();
          if (selected) copy(quote(transcript, selected), texts.selection);
          else copy(plainText(transcript), texts.transcript);
        },
      }),
    [controller, transcript, copy],
  );

  const hasConfidences = useMemo(
    () => transcript.confidences?.some((confidence) => confidence !== null),
    [transcript],
  );
  const segments = video.transcription?.languageSegments ?? NONE;
  return (
    <section className={css.panel} aria-label={texts.transcript}>
      <div className={css.tools}>
        <TranscriptSearchField
          transcript={transcript}
          controller={controller}
          inputRef={input}
          onLeave={() => root.current?.focus({ preventScroll: true })}
        />
        <div className={css.menus}>
          {onEdit && (
            <Button variant="quiet" onPress={onEdit}>
              <EditIcon /> {texts.edit}
            </Button>
          )}
          <CopyMenu transcript={transcript} controller={controller} onCopy={copy} />
          <DownloadMenu
            address={address}
            formats={video.transcription?.fileFormats ?? []}
            hasSpeakers={transcript.hasSpeakers}
          />
        </div>
      </div>
      <TranscriptText
        ref={root}
        transcript={transcript}
        segments={segments}
        showLowConfidence={showLowConfidence}
      />
      <div className={css.foot}>
        {hasConfidences && (
          <Switch isSelected={showLowConfidence} onChange={setShowLowConfidence}>
            {texts.highlight}
          </Switch>
        )}
        {!isFollowing && (
          <span className={css.follow}>
            <Button onPress={() => controller?.follow(true)}>
              <FollowIcon /> {texts.follow}
            </Button>
          </span>
        )}
      </div>
      <p className={controls.hidden} role="status">
        {cursorText}
      </p>
      <div role="status">
        {notice.count > 0 && (
          <p key={notice.count} className={css.notice}>
            {notice.text}
          </p>
        )}
      </div>
    </section>
  );
}

function announcementOf({ paragraphs, starts }: TranscriptModel, word: number): string {
  const paragraph = paragraphs.findLast(({ firstWord }) => firstWord <= word)!;
  const index = word - paragraph.firstWord;
  const text = paragraph.text.slice(paragraph.wordStarts[index], paragraph.wordEnds[index]);
  return `${text}, ${spokenClock(starts[word]!)}`;
}

interface CopyMenuProps {
  transcript: TranscriptModel;
  controller: TranscriptController | null;
  onCopy(text: string, what: string): void;
}

function CopyMenu({ transcript, controller, onCopy }: CopyMenuProps) {
  // Read before the menu opens, because the menu takes focus and the selection may be lost.
  const [selected, setSelected] = useState<{ first: number; last: number } | null>(null);
  const actions = [
    { name: texts.transcript, run: () => onCopy(plainText(transcript), texts.transcript) },
    { name: texts.withTimestamps, run: () => onCopy(textWithTimestamps(transcript), texts.transcript) },
  ];
  const copySelection = selected && {
    name: texts.selectionWithTimestamp,
    run: () => onCopy(quote(transcript, selected), texts.selection),
  };
  return (
    <ActionMenu
      label={texts.copy}
      actions={copySelection ? [copySelection, ...actions] : actions}
      onPressStart={() => setSelected(controller?.selectedWords() ?? null)}
    >
      <CopyIcon />
    </ActionMenu>
  );
}

interface DownloadMenuProps {
  address: VideoAddress;
  formats: FileFormat[];
  /** Whether files with the names of speakers are offered. */
  hasSpeakers: boolean;
}

function DownloadMenu({ address, formats, hasSpeakers }: DownloadMenuProps) {
  const queryClient = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const download = async (url: string) => {
    setError(null);
    try {
      // Check first, because a download link would fail silently if the session ended or the video was deleted.
      await queryClient.fetchQuery({ ...videoQuery(address), staleTime: 0 });
      const link = document.createElement("a");
      link.href = url;
      link.download = "";
      link.click();
    } catch (failure) {
      setError(failure);
    }
  };
  const action = (name: string, url: string) => ({ name, run: () => void download(url) });
  const files = formats.map((format) => action(formatName(format), fileUrl(address, format)));
  const speakerFiles = SPEAKER_FORMATS.map((format) =>
    action(texts.speakerFormats[format], speakerFileUrl(address, format)),
  );
  const offered = hasSpeakers ? [...files, ...speakerFiles] : files;
  usePageCommands(...offered.map(({ name, run }) => ({ name: texts.downloadFile(name), run })));
  return (
    <>
      <ActionMenu label={texts.download} actions={offered}>
        <DownloadIcon />
      </ActionMenu>
      <ErrorNotice error={error} />
    </>
  );
}

/** Returns the format's code in capitals if only a newer release of the service has the format. */
function formatName(format: FileFormat): string {
  return Object.hasOwn(texts.formats, format) ? texts.formats[format] : format.toUpperCase();
}
