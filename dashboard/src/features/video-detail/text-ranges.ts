/** Where text stands in an element, and what stands where; offsets are UTF-16 units of its whole text. */

/** @returns null where the element holds no such text */
export function rangeOf(element: Element, from: number, to: number): Range | null {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let offset = 0;
  let begun = false;
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    const end = offset + node.length;
    if (!begun && from < end) {
      range.setStart(node, from - offset);
      begun = true;
    }
    if (begun && to <= end) {
      range.setEnd(node, to - offset);
      return range;
    }
    offset = end;
  }
  return null;
}

/** The offset of a place inside the element. */
export function offsetOf(element: Element, node: Node, offsetInNode: number): number {
  const range = document.createRange();
  range.selectNodeContents(element);
  range.setEnd(node, offsetInNode);
  return range.toString().length;
}

/** The place in the text under a point of the window; null beside all text. */
export function placeAt(x: number, y: number): { node: Node; offset: number } | null {
  if ("caretPositionFromPoint" in document) {
    const position = document.caretPositionFromPoint(x, y);
    return position && { node: position.offsetNode, offset: position.offset };
  }
  const range = (document as Document).caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}

/** Whether the point is on the text itself rather than in the space around its lines. */
export function isOn(range: Range, x: number, y: number): boolean {
  return [...range.getClientRects()].some(
    ({ left, right, top, bottom }) => x >= left - 2 && x <= right + 2 && y >= top - 4 && y <= bottom + 4,
  );
}
