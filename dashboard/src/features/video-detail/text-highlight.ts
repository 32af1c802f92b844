/** Names of `::highlight()` in the transcript's styles; later ones lie above. */
const LAYERS = [
  "subtext-hover",
  "subtext-match",
  "subtext-lit",
  "subtext-cursor",
  "subtext-current-match",
] as const;
export type Layer = (typeof LAYERS)[number];

/**
 * Colours text without touching the document, which makes lighting a word among tens of thousands cheap.
 * A browser without the CSS Custom Highlight API shows the current paragraph alone.
 */
export function highlight(layer: Layer, ranges: readonly Range[]): void {
  if (!("highlights" in CSS)) return;
  if (ranges.length === 0) {
    CSS.highlights.delete(layer);
    return;
  }
  const made = new Highlight(...ranges);
  made.priority = LAYERS.indexOf(layer);
  CSS.highlights.set(layer, made);
}

export function clearHighlights(): void {
  for (const layer of LAYERS) highlight(layer, []);
}
