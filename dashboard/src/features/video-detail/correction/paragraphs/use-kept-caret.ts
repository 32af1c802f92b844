import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";
import type { EditedTranscript, WordPosition } from "../edited-transcript.ts";
import type { EditingSession, SessionState } from "../editing-session.ts";
import { movePlace, type TextPlace } from "./moved-place.ts";
import { locateWords } from "./paragraph-editor.tsx";
import { elementOf, placeCaretBetweenWords } from "./paragraph-navigation.ts";
import { nativeSelection } from "./text-positions.ts";
import type { TextPosition } from "./word-range.ts";

interface KeptCaretOptions {
  root: RefObject<HTMLElement | null>;
  session: EditingSession;
  position: RefObject<WordPosition>;
}

/** The selection before a change. */
interface KeptSelection {
  transcript: EditedTranscript;
  /** Number of merges before the change. */
  merges: number;
  anchor: TextPlace;
  focus: TextPlace;
  /** Text of the element with the focus. */
  text: string;
}

/**
 * Keeps the caret or selection, and `position`, at their words when something other than typing changes the transcript,
 * such as an undo or another person's change.
 * @returns a function that makes a change for which the browser has moved the caret
 */
export function useKeptCaret({ root, session, position }: KeptCaretOptions): (change: () => void) => void {
  const isTyping = useRef(false);
  const kept = useRef<KeptSelection | null>(null);
  useLayoutEffect(() => {
    let shown = session.state;
    return session.subscribe(() => {
      const before = shown;
      shown = session.state;
      if (shown.transcript === before.transcript || isTyping.current) return;
      // The elements still show the previous words.
      kept.current ??= readSelection(root.current!, before);
      const { paragraph, word } = position.current;
      if (word < 0) return;
      position.current = movePlace({ paragraph, word, inWord: 0 }, before.transcript, shown.transcript);
    });
  }, [root, session, position]);
  // After the paragraphs have shown their changed words.
  useLayoutEffect(() => {
    if (kept.current) restoreSelection(root.current!, kept.current, session.state);
    kept.current = null;
  });
  return useCallback((change) => {
    isTyping.current = true;
    change();
    isTyping.current = false;
  }, []);
}

function readSelection(
  root: HTMLElement,
  { transcript, merges }: Pick<SessionState, "transcript" | "merges">,
): KeptSelection | null {
  const selection = nativeSelection();
  const element = selection && elementOf(root, selection.focus.paragraph);
  if (!element || document.activeElement !== element) return null;
  const { anchor, focus } = selection;
  const text = element.textContent ?? "";
  const places = locateWords(text, transcript[focus.paragraph]!);
  const placeOf = ({ paragraph, offset }: TextPosition): TextPlace => {
    const word = places.findLastIndex((place) => place !== null && place.start <= offset);
    return { paragraph, word: Math.max(0, word), inWord: word < 0 ? 0 : offset - places[word]!.start };
  };
  return { transcript, merges, anchor: placeOf(anchor), focus: placeOf(focus), text };
}

function restoreSelection(
  root: HTMLElement,
  kept: KeptSelection,
  { transcript, merges }: Pick<SessionState, "transcript" | "merges">,
): void {
  const anchor = movePlace(kept.anchor, kept.transcript, transcript);
  const focus = movePlace(kept.focus, kept.transcript, transcript);
  const element = elementOf(root, focus.paragraph)!;
  const isSamePlace = focus.paragraph === kept.focus.paragraph && focus.word === kept.focus.word;
  if (isSamePlace && element.textContent === kept.text) return;
  if (document.activeElement !== element) element.focus({ preventScroll: true });
  const isCollapsed = kept.anchor.word === kept.focus.word && kept.anchor.inWord === kept.focus.inWord;
  if (isCollapsed && focus.isBetween && merges !== kept.merges) {
    // The caret must not end up in a word that someone else wrote.
    placeCaretBetweenWords(element, focus.offset);
    return;
  }
  const node = element.firstChild ?? element;
  const anchorOffset = anchor.paragraph === focus.paragraph ? anchor.offset : focus.offset;
  getSelection()?.setBaseAndExtent(node, anchorOffset, node, focus.offset);
}
