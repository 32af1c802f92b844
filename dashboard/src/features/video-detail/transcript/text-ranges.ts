// Offsets count the UTF-16 code units of an element's entire text.

/** Returns null if the offsets are outside the text. */
export function createTextRange(element: Element, from: number, to: number): Range | null {
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

export function textOffset(element: Element, node: Node, offsetInNode: number): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(node, offsetInNode);
  return range.toString().length;
}

/** Returns the text position at a point in the window; null if there is no text. */
export function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return position && { node: position.offsetNode, offset: position.offset };
  }
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}

/** Returns false for a point between the lines of the text. */
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
  "subtext-selection",
] as const;
type Layer = (typeof LAYERS)[number];

/**
 * Highlights text without changing the document, which is fast even with tens of thousands of words. Does nothing in
 * browsers without the CSS Custom Highlight API.
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

/** Name of the `::highlight()` rule of words of low confidence in the editor. */
const DOUBTFUL = "subtext-doubtful";

/**
 * Adds ranges to the highlight of words of low confidence.
 * @returns a function that removes them
 */
export function highlightLowConfidence(ranges: readonly Range[]): () => void {
  if (!("highlights" in CSS) || ranges.length === 0) return () => {};
  const shared = CSS.highlights.get(DOUBTFUL) ?? new Highlight();
  CSS.highlights.set(DOUBTFUL, shared);
  for (const range of ranges) shared.add(range);
  return () => {
    for (const range of ranges) shared.delete(range);
  };
}
