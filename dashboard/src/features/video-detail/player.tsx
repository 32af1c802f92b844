import type { MediaView } from "@subtext/server/admin/contract/video-detail";
import { useEffect, useRef, useState } from "react";
import { listenToKeys } from "../../hooks/shortcuts.ts";
import { Notice } from "../../ui/controls.tsx";
import { language } from "../../ui/format.ts";
import { ShortcutsHelp, type ShortcutsHelpProps } from "../../ui/shortcuts-help.tsx";
import type { Playback } from "./playback.ts";
import css from "./player.module.css";
import { playbackKeys, VIDEO_SHORTCUTS } from "./player-shortcuts.ts";

const TRANSPORT_STREAM = "video/mp2t";
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

interface PlayerProps {
  name: string;
  media: MediaView;
  /** The captions and their language; null until there are any. */
  captions: { url: string; language: string } | null;
  playback: Playback;
  hasTranscript: boolean;
  help: ShortcutsHelpProps;
}

export function Player({ name, media, captions, playback, hasTranscript, help }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [fault, setFault] = useState(() => faultOf(media));
  const [isSoundOnly, setSoundOnly] = useState(false);
  const [speed, setSpeed] = useState(1);

  useEffect(() => {
    if (fault === null && video.current) return playback.attach(video.current);
    return;
  }, [playback, fault]);
  const { onOpenChange } = help;
  useEffect(
    () => listenToKeys({ ...playbackKeys(playback), "?": () => onOpenChange(true) }),
    [playback, onOpenChange],
  );
  useEffect(() => {
    if (video.current) video.current.playbackRate = speed;
  }, [speed]);

  if (fault !== null) {
    return (
      <Notice tone="plain">
        {FAULTS[fault] ?? FAULTS.unplayable}
        {hasTranscript && " The transcript is still available."}{" "}
        <a href={`${media.url}?download`} download={name}>
          Download the recording
        </a>
      </Notice>
    );
  }
  return (
    <div className={css.player}>
      {/* biome-ignore lint/a11y/useMediaCaption: there are none until it is transcribed */}
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
            label={language(captions.language)}
          />
        )}
      </video>
      <div className={css.bar}>
        <label className={css.speed}>
          Speed
          <select value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
            {(SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed]).map((each) => (
              <option key={each} value={each}>
                {each}×
              </option>
            ))}
          </select>
        </label>
        <ShortcutsHelp {...help} shortcuts={VIDEO_SHORTCUTS} />
      </div>
    </div>
  );
}

/** What can be told before the browser tries. */
function faultOf({ contentType }: MediaView): string | null {
  if (contentType === null) return "unknown";
  // Of other kinds browsers know more than they say; this one Chromium takes for an MP3, and plays noise.
  const isMisheard = contentType === TRANSPORT_STREAM;
  return isMisheard && document.createElement("video").canPlayType(contentType) === "" ? "unplayable" : null;
}

const FAULTS: Record<string, string> = {
  unknown: "This file can't be played in a browser.",
  unplayable: "Your browser can't play this format.",
  unreachable: "The recording could not be loaded. Reload the page to try again.",
};
