import type { MediaView } from "@subtext/server/admin/contract/video-detail";
import { useEffect, useRef, useState } from "react";
import { listenToKeys, type Shortcut } from "../../../hooks/shortcuts.ts";
import { shell } from "../../../messages/en/shell.ts";
import { videoDetail as texts } from "../../../messages/en/video-detail.ts";
import { formatNumber } from "../../../messages/numbers.ts";
import { languageName } from "../../../ui/format.ts";
import { Notice } from "../../../ui/forms/controls.tsx";
import { ShortcutsHelp, type ShortcutsHelpProps } from "../../../ui/shortcuts/shortcuts-help.tsx";
import type { Playback } from "./playback.ts";
import css from "./player.module.css";

const TRANSPORT_STREAM = "video/mp2t";
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

type Fault = keyof typeof texts.faults;

interface PlayerProps {
  name: string;
  media: MediaView;
  /** URL of a frame of the video; null if there is none. */
  poster: string | null;
  /** Whether the recording is known to be audio-only before the browser loads it. */
  hasSoundOnly: boolean;
  /** Null until the transcription is completed. */
  captions: { url: string; language: string } | null;
  playback: Playback;
  hasTranscript: boolean;
  help: ShortcutsHelpProps;
}

export function Player({
  name,
  media,
  poster,
  hasSoundOnly,
  captions,
  playback,
  hasTranscript,
  help,
}: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [fault, setFault] = useState<Fault | null>(() => knownFault(media));
  const [isSoundOnly, setSoundOnly] = useState(hasSoundOnly);
  const [speed, setSpeed] = useState(1);

  useEffect(() => {
    if (fault === null && video.current) return playback.attach(video.current);
    return;
  }, [playback, fault]);
  const { onOpenChange } = help;
  useEffect(
    () => listenToKeys({ ...keyActions(playback), "?": () => onOpenChange(true) }),
    [playback, onOpenChange],
  );
  useEffect(() => {
    if (video.current) video.current.playbackRate = speed;
  }, [speed]);

  if (fault !== null) {
    return (
      <Notice tone="plain">
        {texts.faults[fault]}
        {hasTranscript && ` ${texts.transcriptAvailable}`}{" "}
        <a href={`${media.url}?download`} download={name}>
          {texts.downloadRecording}
        </a>
      </Notice>
    );
  }
  return (
    <div className={css.player}>
      {/* biome-ignore lint/a11y/useMediaCaption: captions exist only after transcription */}
      <video
        ref={video}
        className={css.video}
        data-sound-only={isSoundOnly || undefined}
        src={media.url}
        poster={poster ?? undefined}
        aria-label={name}
        controls
        playsInline
        preload="metadata"
        onLoadedMetadata={({ currentTarget }) => setSoundOnly(currentTarget.videoWidth === 0)}
        onRateChange={({ currentTarget }) => setSpeed(currentTarget.playbackRate)}
        onError={({ currentTarget }) =>
          setFault(currentTarget.error?.code === MediaError.MEDIA_ERR_NETWORK ? "unreachable" : "unplayable")
        }
      >
        {captions && (
          <track
            key={captions.url}
            kind="captions"
            default
            src={captions.url}
            srcLang={captions.language === "zxx" ? "und" : captions.language}
            label={languageName(captions.language)}
          />
        )}
      </video>
      <div className={css.bar}>
        <label className={css.speed}>
          {texts.speed}
          <select value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
            {(SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed]).map((option) => (
              <option key={option} value={option}>
                {formatNumber(option)}×
              </option>
            ))}
          </select>
        </label>
        <ShortcutsHelp {...help} shortcuts={SHORTCUTS} />
      </div>
    </div>
  );
}

/** Returns why the recording cannot be played, if that is known before the browser loads it. */
function knownFault({ contentType }: MediaView): Fault | null {
  if (contentType === null) return "unknown";
  // Chromium mistakes a transport stream for an MP3 and plays noise. For other types, `canPlayType` is unreliable.
  return contentType === TRANSPORT_STREAM && document.createElement("video").canPlayType(contentType) === ""
    ? "unplayable"
    : null;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: [texts.keys.space, "k"], action: texts.shortcuts.playOrPause },
  { keys: ["←", "→"], action: texts.shortcuts.seek5 },
  { keys: ["j", "l"], action: texts.shortcuts.seek10 },
  { keys: ["m"], action: texts.shortcuts.mute },
  { keys: ["f"], action: texts.shortcuts.fullScreen },
  { keys: ["/"], action: texts.shortcuts.search },
  { keys: ["c"], action: texts.shortcuts.copy },
  { keys: [`${shell.controlKey}+${texts.keys.enter}`], action: texts.shortcuts.editorPlayOrPause },
  { keys: ["Alt+,", "Alt+."], action: texts.shortcuts.editorSeek },
  { keys: [`Alt+${texts.keys.enter}`], action: texts.shortcuts.editorPlay },
  { keys: ["Alt+↓", "Alt+↑"], action: texts.shortcuts.editorStep },
  { keys: [texts.keys.enter], action: texts.shortcuts.editorConfirm },
  { keys: [`${shell.controlKey}+K`], action: shell.palette.title },
  { keys: ["?"], action: texts.shortcuts.help },
];

function keyActions(playback: Playback): Record<string, () => void> {
  return {
    " ": () => playback.toggle(),
    k: () => playback.toggle(),
    ArrowLeft: () => playback.seekBy(-5),
    ArrowRight: () => playback.seekBy(5),
    j: () => playback.seekBy(-10),
    l: () => playback.seekBy(10),
    m: () => playback.toggleMute(),
    f: () => playback.toggleFullScreen(),
  };
}
