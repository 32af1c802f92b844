import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { videoDetail as texts } from "../../../messages/en/video-detail.ts";
import { formatClock, formatShare } from "../../../ui/format.ts";
import { spokenClock } from "../texts.ts";
import type { Playback } from "./playback.ts";
import { type Bar, computeBars, speechShare, type Waveform } from "./waveform.ts";
import css from "./waveform-slider.module.css";

const BAR_PX = 3;
const HEIGHT_PX = 56;
const STEP_SECONDS = 5;
const PAGE_SECONDS = 30;

export function WaveformSlider({ waveform, playback }: { waveform: Waveform; playback: Playback }) {
  const slider = useRef<HTMLDivElement>(null);
  const width = useWidth(slider);
  const { duration } = waveform;
  const bars = useMemo(
    () => computeBars(waveform, Math.max(1, Math.floor(width / BAR_PX))),
    [waveform, width],
  );
  const paths = useMemo(() => ({ speech: svgPath(bars, true), pause: svgPath(bars, false) }), [bars]);
  const { share, pauses } = useMemo(() => speechShare(waveform), [waveform]);

  useEffect(
    () =>
      playback.listen((seconds) => {
        const element = slider.current!;
        const at = Math.min(seconds, duration);
        element.style.setProperty("--played", `${duration > 0 ? (at / duration) * 100 : 0}%`);
        const whole = String(Math.floor(at));
        if (element.getAttribute("aria-valuenow") === whole) return;
        element.setAttribute("aria-valuenow", whole);
        element.setAttribute("aria-valuetext", texts.positionOf(spokenClock(at), spokenClock(duration)));
      }),
    [playback, duration],
  );

  const seekTo = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    playback.seek(Math.min(1, Math.max(0, (event.clientX - left) / width)) * duration);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const positions: Record<string, number> = {
      ArrowLeft: playback.seconds - STEP_SECONDS,
      ArrowDown: playback.seconds - STEP_SECONDS,
      ArrowRight: playback.seconds + STEP_SECONDS,
      ArrowUp: playback.seconds + STEP_SECONDS,
      PageDown: playback.seconds - PAGE_SECONDS,
      PageUp: playback.seconds + PAGE_SECONDS,
      Home: 0,
      End: duration,
    };
    const position = positions[event.key];
    if (position === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    playback.seek(Math.min(duration, Math.max(0, position)));
  };
  return (
    <figure className={css.figure}>
      <div
        ref={slider}
        className={css.slider}
        role="slider"
        tabIndex={0}
        aria-label={texts.position}
        aria-valuemin={0}
        aria-valuemax={Math.floor(duration)}
        aria-valuenow={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          seekTo(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seekTo(event)}
      >
        {["ahead", "played"].map((part) => (
          <svg
            key={part}
            className={css[part]}
            width={width}
            height={HEIGHT_PX}
            viewBox={`0 0 ${width} ${HEIGHT_PX}`}
            aria-hidden="true"
          >
            <path className={css.pause} d={paths.pause} />
            <path className={css.speech} d={paths.speech} />
          </svg>
        ))}
        <span className={css.head} />
      </div>
      <figcaption className={css.caption}>
        <span className={css.key} data-kind="speech">
          {texts.speechShare(formatShare(share))}
        </span>
        <span className={css.key} data-kind="pause">
          {texts.pauses(pauses)}
        </span>
        <span className={css.end}>{formatClock(duration)}</span>
      </figcaption>
    </figure>
  );
}

/** Reserves the height of the slider, so that nothing below it moves when the waveform arrives. */
export function WaveformPlaceholder() {
  return (
    <div aria-hidden="true">
      <div className={css.slider} />
      <div className={css.caption} />
    </div>
  );
}

/** Returns the element's current width in whole CSS pixels. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

function svgPath(bars: readonly Bar[], isSpeech: boolean): string {
  return bars
    .map((bar, index) => {
      if (bar.isSpeech !== isSpeech) return "";
      const height = Math.max(2, Math.round(bar.height * (HEIGHT_PX - 4)));
      return `M${index * BAR_PX} ${(HEIGHT_PX - height) / 2}h${BAR_PX - 1}v${height}h${1 - BAR_PX}z`;
    })
    .join("");
}
