import { type RefObject, useEffect } from "react";
import type { WordPosition } from "../edited-transcript.ts";
import type { EditingSession } from "../editing-session.ts";
import { locateWords } from "./paragraph-editor.tsx";
import { elementOf } from "./paragraph-navigation.ts";
import { comparePositions, nativeSelection } from "./text-positions.ts";

interface CaretWordOptions {
  root: RefObject<HTMLElement | null>;
  session: EditingSession;
  /** Set to the word that contains the caret, or that precedes it, whenever the caret moves. */
  position: RefObject<WordPosition>;
}

/** Listens to the document, because React's `onSelect` does not support `plaintext-only` elements. */
export function useCaretWord({ root, session, position }: CaretWordOptions): void {
  useEffect(() => {
    const onSelectionChange = () => {
      const { activeElement } = document;
      const isInText = activeElement instanceof HTMLElement && activeElement.isContentEditable;
      const selection = isInText ? nativeSelection() : null;
      if (!selection) return;
      const { anchor, focus } = selection;
      // The start of a selected word, because its end can also be the start of the next one.
      const { paragraph, offset } = comparePositions(anchor, focus) < 0 ? anchor : focus;
      const text = elementOf(root.current!, paragraph)?.textContent ?? "";
      const words = session.state.transcript[paragraph] ?? [];
      const word = locateWords(text, words).findLastIndex((place) => place !== null && place.start <= offset);
      if (word >= 0) position.current = { paragraph, word };
    };
    document.addEventListener("selectionchange", onSelectionChange);
    return () => document.removeEventListener("selectionchange", onSelectionChange);
  }, [root, session, position]);
}
