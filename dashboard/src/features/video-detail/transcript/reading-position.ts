import { type RefObject, useLayoutEffect } from "react";
import { type TranscriptView, visibleArea } from "./scroll-into-view.ts";

/** The part of a transcript that an operator reads or edits. */
export interface ReadingPosition {
  /** Start of the first visible paragraph; null until the transcript has been shown. */
  seconds: number | null;
  /** Distance of that paragraph from the top of the visible area, in CSS pixels. */
  offset: number;
  /** Whether the text scrolls with playback. */
  isFollowing: boolean;
}

/** Each correction waits for a frame, because a restored paragraph moves when the paragraphs above it are laid out. */
const MAX_CORRECTIONS = 4;

/** Keeps the position when the transcript and its editor replace each other. Paragraphs have a `data-start`. */
export function useReadingPosition(
  root: RefObject<HTMLElement | null>,
  position: ReadingPosition,
  coveredHeight: () => number,
): void {
  useLayoutEffect(() => {
    const view = { scroller: root.current!, coveredHeight };
    restore(position, view);
    return () => {
      const { top } = visibleArea(view);
      const first = paragraphsOf(view).find((element) => element.getBoundingClientRect().bottom > top);
      if (!first) return;
      position.seconds = startOf(first);
      position.offset = first.getBoundingClientRect().top - top;
    };
  }, [root, position, coveredHeight]);
}

function restore(position: ReadingPosition, view: TranscriptView, corrections = MAX_CORRECTIONS): void {
  const { seconds, offset } = position;
  if (seconds === null) return;
  const paragraph = paragraphsOf(view).findLast((element) => startOf(element) <= seconds);
  if (!paragraph?.isConnected) return;
  const { target, top } = visibleArea(view);
  const distance = paragraph.getBoundingClientRect().top - (top + offset);
  target.scrollBy({ top: distance, behavior: "instant" });
  if (corrections > 0) requestAnimationFrame(() => restore(position, view, corrections - 1));
}

function paragraphsOf({ scroller }: TranscriptView): HTMLElement[] {
  return [...scroller.querySelectorAll<HTMLElement>("[data-start]")];
}

function startOf(paragraph: HTMLElement): number {
  return Number(paragraph.dataset.start);
}
