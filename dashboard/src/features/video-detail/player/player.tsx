import type { MediaView } from "@subtext/server/admin/contract/video-detail";
import { useEffect, useRef, useState } from "react";
import { listenToKeys, type Shortcut } from "../../../hooks/shortcuts.ts";
import { languageName } from "../../../ui/format.ts";
import { Notice } from "../../../ui/forms/controls.tsx";
import { ShortcutsHelp, type ShortcutsHelpProps } from "../../../ui/shortcuts-help.tsx";
import type { Playback } from "./playback.ts";
import css from "./player.module.css";

const TRANSPORT_STREAM = "video/mp2t";
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

interface PlayerProps {
  name: string;
  media: MediaView;
  /** Null until the transcription is completed. */
  captions: { url: string; language: string } | null;
  playback: Playback;
  hasTranscript: boolean;
  help: ShortcutsHelpProps;
}

export function Player({ name, media, captions, playback, hasTranscript, help }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [fault, setFault] = useState(() => knownFault(media));
  const [isSoundOnly, setSoundOnly] = useState(false);
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
        {FAULT_TEXTS[fault] ?? FAULT_TEXTS.unplayable}
        {hasTranscript && " The transcript is still available."}{" "}
        <a href={`${media.url}?download`} download={name}>
          Download the recording
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
          Speed
          <select value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
            {(SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed]).map((option) => (
              <option key={option} value={option}>
                {option}×
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
function knownFault({ contentType }: MediaView): string | null {
  if (contentType === null) return "unknown";
  // Chromium mistakes a transport stream for an MP3 and plays noise. For other types, `canPlayType` is unreliable.
  return contentType === TRANSPORT_STREAM && document.createElement("video").canPlayType(contentType) === ""
    ? "unplayable"
    : null;
}

const FAULT_TEXTS: Record<string, string> = {
  unknown: "This file can't be played in a browser.",
  unplayable: "Your browser can't play this format.",
  unreachable: "The recording could not be loaded. Reload the page to try again.",
};

const SHORTCUTS: readonly Shortcut[] = [
  { keys: ["Space", "k"], action: "Play or pause" },
  { keys: ["←", "→"], action: "Back / forward 5 s" },
  { keys: ["j", "l"], action: "Back / forward 10 s" },
  { keys: ["m"], action: "Mute" },
  { keys: ["f"], action: "Full screen" },
  { keys: ["/"], action: "Search transcript" },
  { keys: ["c"], action: "Copy transcript or selection" },
  { keys: ["Alt+Enter"], action: "Editor: play from the word, or pause" },
  { keys: ["Alt+↓", "Alt+↑"], action: "Editor: next or previous low-confidence word" },
  { keys: ["Enter"], action: "Editor: confirm the word" },
  { keys: ["?"], action: "Show keyboard shortcuts" },
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
