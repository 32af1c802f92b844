import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { highlight } from "../../transcript/text-ranges.ts";
import type { EditedTranscript } from "../edited-transcript.ts";
import type { EditingSession } from "../editing-session.ts";
import { elementOf, placeCaret } from "./paragraph-navigation.ts";
import {
  comparePositions,
  extensionOf,
  lengthOf,
  moveCaret,
  moveOf,
  nativeSelection,
  positionAt,
  rangesOf,
  selectNatively,
  wordsBetween,
} from "./text-positions.ts";
import { type TextPosition, textOfRange, type WordRange, wordsOfRange } from "./word-range.ts";

/** Reported for a key that an input method handles. */
const IME_KEY_CODE = 229;
/** Types of input that replace selected words. */
const REPLACING_INPUT = /^(insertText|insertParagraph|insertLineBreak|delete)/;

interface WordSelectionOptions {
  root: RefObject<HTMLElement | null>;
  session: EditingSession;
  transcript: EditedTranscript;
  /** Replaces the words of the range; empty text deletes them. */
  replace(range: WordRange, text: string): void;
}

export interface WordSelection {
  /** The selected words; null if the selection is empty or within one paragraph, where the browser manages it. */
  current: RefObject<WordRange | null>;
  count: number;
}

/**
 * Lets the user select words across paragraphs with the mouse or keyboard. Browsers do not extend a selection beyond an
 * editable element, so this hook highlights the words, keeps the caret at the moving end, and handles copy and paste.
 */
export function useWordSelection({
  root,
  session,
  transcript,
  replace,
}: WordSelectionOptions): WordSelection {
  const current = useRef<WordRange | null>(null);
  const anchor = useRef<TextPosition | null>(null);
  const [count, setCount] = useState(0);

  const show = useCallback(
    (from: TextPosition | null, to: TextPosition | null) => {
      anchor.current = from;
      const range = from && to && wordsBetween(session.state.transcript, from, to);
      current.current = range;
      highlight("subtext-selection", range ? rangesOf(root.current!, session.state.transcript, range) : []);
      setCount(range ? wordsOfRange(session.state.transcript, range).length : 0);
    },
    [root, session],
  );
  const latestReplace = useRef(replace);
  latestReplace.current = replace;

  // biome-ignore lint/correctness/useExhaustiveDependencies: after a change, the positions may belong to other words
  useLayoutEffect(() => {
    if (anchor.current) show(null, null);
  }, [transcript, show]);
  useEffect(() => () => highlight("subtext-selection", []), []);

  useEffect(() => {
    const text = root.current!;
    const controller = new AbortController();
    const { signal } = controller;
    let dragged: TextPosition | null = null;
    /** The latest position over the text; null unless the drag has left its paragraph. */
    let draggedTo: TextPosition | null = null;
    /** Where this hook put the caret. */
    let caret: TextPosition | null = null;
    const clear = () => show(null, null);
    const extendTo = (from: TextPosition, to: TextPosition) => {
      caret = to;
      if (from.paragraph === to.paragraph) {
        clear();
        selectNatively(text, from, to);
      } else {
        placeCaret(elementOf(text, to.paragraph)!, to.offset);
        show(from, to);
      }
    };
    const selectEverything = () => {
      const last = session.state.transcript.length - 1;
      extendTo({ paragraph: 0, offset: 0 }, { paragraph: last, offset: lengthOf(text, last) });
    };
    const replaceSelected = (words: string) => {
      if (current.current) latestReplace.current(current.current, words);
    };

    // The caret was moved by something else, such as a click, the review of a word or a search.
    const onSelectionChange = () => {
      if (!anchor.current || draggedTo || !isInText(document.activeElement)) return;
      const native = nativeSelection();
      const isOurs =
        native &&
        caret &&
        comparePositions(native.anchor, native.focus) === 0 &&
        comparePositions(native.focus, caret) === 0;
      if (native && !isOurs) clear();
    };

    const onMouseDown = (event: MouseEvent) => {
      dragged = null;
      draggedTo = null;
      if (event.button !== 0 || !isInText(event.target)) return;
      const point = positionAt(event.clientX, event.clientY);
      const from = event.shiftKey ? (anchor.current ?? nativeSelection()?.anchor ?? null) : null;
      if (from && point && (anchor.current || from.paragraph !== point.paragraph)) {
        event.preventDefault();
        extendTo(from, point);
      } else {
        if (anchor.current) clear();
        dragged = point;
      }
    };
    const onMouseMove = (event: MouseEvent) => {
      if (!dragged || (event.buttons & 1) === 0) return;
      const point = positionAt(event.clientX, event.clientY);
      if (!point || (!draggedTo && point.paragraph === dragged.paragraph)) return;
      draggedTo = point;
      show(dragged, point);
    };
    const onMouseUp = (event: MouseEvent) => {
      const end = draggedTo && (positionAt(event.clientX, event.clientY) ?? draggedTo);
      if (dragged && end) extendTo(dragged, end);
      dragged = null;
      draggedTo = null;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isInText(event.target) || event.isComposing) return;
      const handled = anchor.current
        ? changeSelection(event, anchor.current)
        : event.shiftKey
          ? startSelection(event)
          : selectAll(event);
      if (!handled) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const startSelection = ({ key }: KeyboardEvent): boolean => {
      const native = nativeSelection();
      const next = native && extensionOf(text, native.focus, key);
      if (next) extendTo(native.anchor, next);
      return next !== null;
    };
    /** The browser handles the first Ctrl+A, which selects the paragraph. The second selects the entire transcript. */
    const selectAll = (event: KeyboardEvent): boolean => {
      if (!isSelectAll(event)) return false;
      const length = (event.target as HTMLElement).textContent?.length ?? 0;
      if (getSelection()?.toString().length !== length) return false;
      selectEverything();
      return true;
    };
    const changeSelection = (event: KeyboardEvent, from: TextPosition): boolean => {
      const { key, shiftKey } = event;
      // Input methods and dead keys report these before they start to compose, which cannot be canceled.
      if (key === "Process" || key === "Dead" || event.keyCode === IME_KEY_CODE) replaceSelected("");
      if (isSelectAll(event)) {
        selectEverything();
        return true;
      }
      if (key === "Backspace" || key === "Delete") {
        // Shift+Delete cuts. Without selected words, the caret is at the edge of a paragraph.
        if (current.current === null) clear();
        if (current.current === null || shiftKey) return false;
        replaceSelected("");
        return true;
      }
      // Alt with an arrow reviews the next word; Cmd moves the caret, which ends the selection.
      if (event.metaKey || (event.altKey && (key === "ArrowUp" || key === "ArrowDown"))) return false;
      if (key === "Escape") {
        clear();
        return true;
      }
      const focus = nativeSelection()?.focus;
      const move = focus && moveOf(text, focus, key);
      if (!move) return false;
      if (shiftKey) {
        extendTo(from, moveCaret(text, focus, event));
      } else {
        const isReversed = comparePositions(focus, from) < 0;
        const end = (move === "backward") === isReversed ? focus : from;
        clear();
        placeCaret(elementOf(text, end.paragraph)!, end.offset);
      }
      return true;
    };
    const onBeforeInput = (event: InputEvent) => {
      if (!current.current || event.inputType.startsWith("history") || event.isComposing) return;
      // For example a spelling suggestion, which belongs to one word.
      if (!REPLACING_INPUT.test(event.inputType)) {
        clear();
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      replaceSelected(event.data ?? "");
    };
    const onClipboard = (event: ClipboardEvent) => {
      const range = current.current;
      if (!range) return;
      event.preventDefault();
      if (event.type === "paste") {
        replaceSelected(event.clipboardData?.getData("text/plain") ?? "");
        return;
      }
      event.clipboardData?.setData("text/plain", textOfRange(session.state.transcript, range));
      if (event.type === "cut") replaceSelected("");
    };
    // While the native selection is empty, browsers disable Copy and Cut unless these events are canceled.
    const enable = (event: Event) => current.current && event.preventDefault();

    document.addEventListener("selectionchange", onSelectionChange, { signal });
    text.addEventListener("mousedown", onMouseDown, { signal });
    document.addEventListener("mousemove", onMouseMove, { signal });
    document.addEventListener("mouseup", onMouseUp, { signal });
    text.addEventListener("keydown", onKeyDown, { signal });
    text.addEventListener("beforeinput", onBeforeInput, { signal });
    for (const type of ["copy", "cut", "paste"] as const)
      text.addEventListener(type, onClipboard, { signal });
    for (const type of ["beforecopy", "beforecut"]) text.addEventListener(type, enable, { signal });
    return () => controller.abort();
  }, [root, session, show]);

  return { current, count };
}

function isSelectAll({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === "a" && (ctrlKey || metaKey);
}

function isInText(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.isContentEditable;
}
