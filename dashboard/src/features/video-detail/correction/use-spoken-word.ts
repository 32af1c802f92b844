import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Playback } from "../player/playback.ts";
import type { ReadingPosition } from "../transcript/reading-position.ts";
import { scrollIntoView } from "../transcript/scroll-into-view.ts";
import { clearHighlights, highlight } from "../transcript/text-ranges.ts";
import { type EditedTranscript, findSpokenWord, type WordPosition } from "./edited-transcript.ts";
import type { EditingSession } from "./editing-session.ts";
import { rangeOf } from "./paragraphs/paragraph-navigation.ts";

const CARET_KEYS = /^(Arrow|Page|Home|End)/;

interface SpokenWordOptions {
  root: RefObject<HTMLElement | null>;
  session: EditingSession;
  transcript: EditedTranscript;
  playback: Playback;
  coveredHeight(): number;
  position: ReadingPosition;
}

interface SpokenWord {
  isFollowing: boolean;
  follow(): void;
  /** Highlights the word again after an element's text was replaced, which removes highlights. */
  mark(): void;
}

/** Highlights the word that is being played, and scrolls to it until the operator scrolls or edits. */
export function useSpokenWord(options: SpokenWordOptions): SpokenWord {
  const { root, session, transcript, playback, coveredHeight, position } = options;
  const [isFollowing, setFollowing] = useState(position.isFollowing);
  const show = useRef<() => void>(() => {});
  const mark = useRef<() => void>(() => {});
  const setFollow = useCallback(
    (follows: boolean) => {
      position.isFollowing = follows;
      setFollowing(follows);
      if (follows) show.current();
    },
    [position],
  );

  useEffect(() => {
    const text = root.current!;
    const controller = new AbortController();
    const passive = { signal: controller.signal, passive: true };
    const stopFollowing = () => setFollow(false);
    for (const type of ["wheel", "touchmove", "pointerdown", "beforeinput"]) {
      text.addEventListener(type, stopFollowing, passive);
    }
    const onKeyDown = ({ key, altKey }: KeyboardEvent) => !altKey && CARET_KEYS.test(key) && stopFollowing();
    text.addEventListener("keydown", onKeyDown, passive);

    let start: number | null = null;
    let range: Range | null = null;
    mark.current = () => {
      const { transcript } = session.state;
      const found = findSpokenWord(transcript, playback.seconds);
      start = startOf(transcript, found);
      range = found && rangeOf(text, transcript, found);
      highlight("subtext-active", range ? [range] : []);
    };
    show.current = () => {
      if (range) scrollIntoView(range, { scroller: text, coveredHeight });
    };
    const stop = playback.listen((seconds, isSeek) => {
      const { transcript } = session.state;
      if (startOf(transcript, findSpokenWord(transcript, seconds)) !== start) {
        mark.current();
        if (position.isFollowing && playback.isPlaying) show.current();
      }
      // While the caret is in the text, shortcuts that seek must not scroll it away.
      if (isSeek && !document.activeElement?.matches("[contenteditable]")) setFollow(true);
    });
    return () => {
      controller.abort();
      stop();
      clearHighlights();
    };
  }, [root, session, playback, coveredHeight, position, setFollow]);
  // After the paragraphs have shown their changed words.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words changed
  useLayoutEffect(() => mark.current(), [transcript]);
  return { isFollowing, follow: () => setFollow(true), mark: () => mark.current() };
}

function startOf(transcript: EditedTranscript, position: WordPosition | null): number | null {
  return position && transcript[position.paragraph]![position.word]!.start;
}
