import { caretAt, createTextRange, textOffset } from "../../transcript/text-ranges.ts";
import { type EditedTranscript, paragraphText } from "../edited-transcript.ts";
import { locateWords } from "./paragraph-editor.tsx";
import { directionOf, elementOf, indexOf, placeCaret } from "./paragraph-navigation.ts";
import { type TextPosition, type WordRange, wordsOfRange } from "./word-range.ts";

/** Distance from a paragraph's top or bottom edge to a point inside its first or last line. */
const LINE_INSET_PX = 8;

type Direction = "forward" | "backward";

const UNITS: Record<string, "character" | "line" | "lineboundary"> = {
  ArrowRight: "character",
  ArrowLeft: "character",
  ArrowDown: "line",
  ArrowUp: "line",
  End: "lineboundary",
  Home: "lineboundary",
};

export function comparePositions(a: TextPosition, b: TextPosition): number {
  return a.paragraph - b.paragraph || a.offset - b.offset;
}

export function lengthOf(root: HTMLElement, paragraph: number): number {
  return (elementOf(root, paragraph)?.textContent ?? "").length;
}

/** Returns null if the node is not in the text of a paragraph. */
function toPosition(node: Node | null, offset: number): TextPosition | null {
  const parent = node instanceof Element ? node : node?.parentElement;
  const element = parent?.closest<HTMLElement>("[data-paragraph] [contenteditable]");
  return node && element ? { paragraph: indexOf(element), offset: textOffset(element, node, offset) } : null;
}

/** Returns null for a point that is not in the text of a paragraph. */
export function positionAt(x: number, y: number): TextPosition | null {
  const caret = caretAt(x, y);
  return caret && toPosition(caret.node, caret.offset);
}

/** Returns the browser's selection, which never leaves a paragraph; null if it is outside the text. */
export function nativeSelection(): { anchor: TextPosition; focus: TextPosition } | null {
  const selection = getSelection();
  const anchor = selection && toPosition(selection.anchorNode, selection.anchorOffset);
  const focus = selection && toPosition(selection.focusNode, selection.focusOffset);
  return anchor && focus && { anchor, focus };
}

/** Selects text within one paragraph. */
export function selectNatively(root: HTMLElement, anchor: TextPosition, focus: TextPosition): void {
  const element = elementOf(root, focus.paragraph);
  if (!element) return;
  placeCaret(element, focus.offset);
  const selection = getSelection()!;
  const { focusNode, focusOffset } = selection;
  placeCaret(element, anchor.offset);
  selection.extend(focusNode!, focusOffset);
}

/** Returns the direction in which a key moves the caret; null if the key does not move it. */
export function moveOf(root: HTMLElement, { paragraph }: TextPosition, key: string): Direction | null {
  if (key === "Home" || key === "End") return key === "Home" ? "backward" : "forward";
  const direction = key in UNITS ? directionOf(key, elementOf(root, paragraph)!) : undefined;
  return direction === undefined ? null : direction === 1 ? "forward" : "backward";
}

/** Returns the position in the adjacent paragraph if an arrow key leaves the paragraph, otherwise null. */
export function extensionOf(root: HTMLElement, from: TextPosition, key: string): TextPosition | null {
  const unit = UNITS[key];
  if (unit === undefined || unit === "lineboundary") return null;
  const isForward = moveOf(root, from, key) === "forward";
  if (from.offset !== (isForward ? lengthOf(root, from.paragraph) : 0)) return null;
  const paragraph = from.paragraph + (isForward ? 1 : -1);
  const element = elementOf(root, paragraph);
  if (!element) return null;
  const inColumn = unit === "line" ? positionInColumn(element, isForward) : null;
  if (inColumn?.paragraph === paragraph) return inColumn;
  return { paragraph, offset: isForward ? 0 : lengthOf(root, paragraph) };
}

/** Returns the position directly below or above the caret, in the element's first or last line. */
function positionInColumn(element: HTMLElement, isForward: boolean): TextPosition | null {
  const { focusNode, focusOffset } = getSelection()!;
  const caret = document.createRange();
  caret.setStart(focusNode!, focusOffset);
  const { top, bottom } = element.getBoundingClientRect();
  return positionAt(
    caret.getBoundingClientRect().left,
    isForward ? top + LINE_INSET_PX : bottom - LINE_INSET_PX,
  );
}

/** Returns where a key moves the caret, which may be in an adjacent paragraph. May move the caret to find out. */
export function moveCaret(root: HTMLElement, from: TextPosition, event: KeyboardEvent): TextPosition {
  const { key, ctrlKey, altKey } = event;
  if (ctrlKey && key === "Home") return { paragraph: 0, offset: 0 };
  if (ctrlKey && key === "End") {
    const last = root.querySelectorAll("[data-paragraph]").length - 1;
    return { paragraph: last, offset: lengthOf(root, last) };
  }
  const next = extensionOf(root, from, key);
  if (next) return next;
  placeCaret(elementOf(root, from.paragraph)!, from.offset);
  const unit = UNITS[key] === "character" && (ctrlKey || altKey) ? "word" : UNITS[key]!;
  getSelection()!.modify("move", moveOf(root, from, key)!, unit);
  return nativeSelection()?.focus ?? from;
}

/** Returns the words that a selection touches; null if it touches none or is within one paragraph. */
export function wordsBetween(
  transcript: EditedTranscript,
  anchor: TextPosition,
  focus: TextPosition,
): WordRange | null {
  const [start, end] = comparePositions(anchor, focus) < 0 ? [anchor, focus] : [focus, anchor];
  if (start.paragraph === end.paragraph || end.paragraph >= transcript.length) return null;
  const { ends } = paragraphText(transcript[start.paragraph]!);
  const { starts } = paragraphText(transcript[end.paragraph]!);
  const from = { paragraph: start.paragraph, word: ends.filter((offset) => offset <= start.offset).length };
  const to = { paragraph: end.paragraph, word: starts.filter((offset) => offset < end.offset).length };
  return wordsOfRange(transcript, { from, to }).length === 0 ? null : { from, to };
}

/** Returns one DOM range per paragraph that contains words of the range, for highlighting. */
export function rangesOf(root: HTMLElement, transcript: EditedTranscript, { from, to }: WordRange): Range[] {
  return transcript.slice(from.paragraph, to.paragraph + 1).flatMap((words, index) => {
    const paragraph = from.paragraph + index;
    const element = elementOf(root, paragraph);
    if (!element) return [];
    const places = locateWords(element.textContent ?? "", words);
    const first = places[paragraph === from.paragraph ? from.word : 0];
    const last = places[(paragraph === to.paragraph ? to.word : words.length) - 1];
    if (!first || !last || last.end <= first.start) return [];
    return createTextRange(element, first.start, last.end) ?? [];
  });
}
