import { needsSpace } from "@subtext/captions/script";
import { createTextRange, textOffset } from "../../transcript/text-ranges.ts";
import type { EditedTranscript, WordPosition } from "../edited-transcript.ts";
import { locateWords } from "./paragraph-editor.tsx";

/** Elements of the current paragraph that are in the tab order. */
const STOPS = "[contenteditable], [data-speaker]";

/** Only the current paragraph and its speaker are tab stops, because a transcript has hundreds of paragraphs. */
export function moveTabStop({ target, currentTarget }: React.FocusEvent<HTMLElement>): void {
  const paragraph = target.closest("[data-paragraph]");
  if (paragraph) setTabStop(currentTarget, paragraph);
}

/** Makes the first paragraph the tab stop if the previous tab stop was removed. */
export function keepTabStop(root: HTMLElement): void {
  const first = root.querySelector("[data-paragraph]");
  if (first && !root.querySelector('[contenteditable][tabindex="0"]')) setTabStop(root, first);
}

function setTabStop(root: HTMLElement, paragraph: Element): void {
  for (const stop of root.querySelectorAll<HTMLElement>('[tabindex="0"]')) stop.tabIndex = -1;
  for (const stop of paragraph.querySelectorAll<HTMLElement>(STOPS)) stop.tabIndex = 0;
}

interface BoundaryActions {
  /** Joins a paragraph with the one before it. Returns false if their speakers or channels differ. */
  join(paragraph: number): boolean;
}

const DIRECTIONS: Record<string, 1 | -1> = {
  ArrowDown: 1,
  ArrowRight: 1,
  Delete: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
  Backspace: -1,
};

/**
 * At the start or end of a paragraph, arrow keys move the caret to the adjacent one. Backspace and Delete join the two
 * paragraphs, or move the caret if their speakers differ.
 */
export function crossBoundary(event: React.KeyboardEvent<HTMLElement>, { join }: BoundaryActions): void {
  const { target, key, altKey, shiftKey, currentTarget } = event;
  if (!(target instanceof HTMLElement) || !target.isContentEditable || altKey || shiftKey) return;
  const selection = getSelection();
  const direction = directionOf(key, target);
  if (!selection?.focusNode || !selection.isCollapsed) return;
  if (direction === undefined || event.nativeEvent.isComposing) return;
  const offset = textOffset(target, selection.focusNode, selection.focusOffset);
  if (offset !== (direction === 1 ? (target.textContent ?? "").length : 0)) return;
  const index = indexOf(target);
  const next = elementOf(currentTarget, index + direction);
  if (!next) return;
  event.preventDefault();
  const erases = key === "Backspace" || key === "Delete";
  if (erases && join(direction === 1 ? index + 1 : index)) return;
  placeCaret(next, direction === 1 ? 0 : (next.textContent ?? "").length);
}

/** Left is forward in text that is written from right to left. */
export function directionOf(key: string, target: HTMLElement): 1 | -1 | undefined {
  const direction = DIRECTIONS[key];
  const isHorizontal = key === "ArrowLeft" || key === "ArrowRight";
  if (direction === undefined || !isHorizontal || getComputedStyle(target).direction === "ltr")
    return direction;
  return direction === 1 ? -1 : 1;
}

export function indexOf(element: HTMLElement): number {
  return Number(element.closest<HTMLElement>("[data-paragraph]")!.dataset.paragraph);
}

export function placeCaret(element: HTMLElement, offset: number): void {
  element.focus();
  getSelection()?.collapse(element.firstChild ?? element, element.firstChild ? offset : 0);
}

/** Places the caret where words were deleted. Adds a space where needed, so that typed text becomes a new word. */
export function placeCaretBetweenWords(element: HTMLElement, offset: number): void {
  const node = element.firstChild;
  if (!(node instanceof Text)) {
    placeCaret(element, 0);
    return;
  }
  const isSpaced =
    offset > 0 && (offset === node.length ? isSpacedScript(node.data) : node.data[offset] === " ");
  if (isSpaced) node.insertData(offset, " ");
  if (offset === 0) node.insertData(0, " ");
  placeCaret(element, isSpaced ? offset + 1 : offset);
}

function isSpacedScript(text: string): boolean {
  return needsSpace(text.at(-1)!, "a");
}

export function elementOf(root: HTMLElement, paragraph: number): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-paragraph="${paragraph}"] [contenteditable]`);
}

export function rangeOf(
  root: HTMLElement,
  transcript: EditedTranscript,
  { paragraph, word }: WordPosition,
): Range | null {
  const element = elementOf(root, paragraph);
  const place = element && locateWords(element.textContent ?? "", transcript[paragraph]!)[word];
  return place ? createTextRange(element, place.start, place.end) : null;
}
