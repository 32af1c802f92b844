/**
 * Text ranges in the document and their highlighting. Offsets count the UTF-16 code units of an element's entire text.
 */

/** Returns null if the offsets are outside the text. */
export function rangeOf(element: Element, from: number, to: number): Range | null {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let offset = 0;
  let isStarted = false;
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    const end = offset + node.length;
    if (!isStarted && from < end) {
      range.setStart(node, from - offset);
      isStarted = true;
    }
    if (isStarted && to <= end) {
      range.setEnd(node, to - offset);
      return range;
    }
    offset = end;
  }
  return null;
}

/** Returns the text offset of a DOM position inside the element. */
export function offsetOf(element: Element, node: Node, offsetInNode: number): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(node, offsetInNode);
  return range.toString().length;
}

/** Returns the text position at a point of the window; null if there is no text. */
export function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return position && { node: position.offsetNode, offset: position.offset };
  }
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}

/** Returns whether the point is on the text, not between its lines. */
export function containsPoint(range: Range, x: number, y: number): boolean {
  return [...range.getClientRects()].some(
    ({ left, right, top, bottom }) => x >= left - 2 && x <= right + 2 && y >= top - 4 && y <= bottom + 4,
  );
}

/** Names of the `::highlight()` rules in transcript.module.css. Later layers are drawn on top of earlier ones. */
const LAYERS = [
  "subtext-hover",
  "subtext-match",
  "subtext-active",
  "subtext-cursor",
  "subtext-current-match",
] as const;
type Layer = (typeof LAYERS)[number];

/**
 * Highlights text without changing the document, which is fast even with tens of thousands of words. Without the CSS
 * Custom Highlight API, the browser shows only the current paragraph.
 */
export function highlight(layer: Layer, ranges: readonly Range[]): void {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) {
    CSS.highlights.delete(layer);
    return;
  }
  const added = new Highlight(...ranges);
  added.priority = LAYERS.indexOf(layer);
  CSS.highlights.set(layer, added);
}

export function clearHighlights(): void {
  for (const layer of LAYERS) highlight(layer, []);
}
