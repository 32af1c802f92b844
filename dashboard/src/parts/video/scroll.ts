/** Where the text is read best, of the height that shows it. */
const READING_LINE = 0.35;
const COMFORTABLE = { from: 0.1, to: 0.65 };

/**
 * Scrolls so that the range can be read, where it can not. The transcript scrolls by itself beside the player,
 * and with the page below it.
 * @param covered by what sticks to the window's top, in CSS pixels
 */
export function bringIntoView(
  range: Range,
  { scroller, covered, smooth }: { scroller: HTMLElement; covered: number; smooth: boolean },
): void {
  const ownScroll = getComputedStyle(scroller).overflowY === "auto";
  const box = scroller.getBoundingClientRect();
  const top = ownScroll ? box.top : covered;
  const height = ownScroll ? box.height : innerHeight - covered;
  const { top: lineTop, bottom: lineBottom } = range.getBoundingClientRect();
  if (lineTop >= top + height * COMFORTABLE.from && lineBottom <= top + height * COMFORTABLE.to) return;
  const by = {
    top: lineTop - (top + height * READING_LINE),
    behavior: smooth ? "smooth" : "instant",
  } as const;
  if (ownScroll) scroller.scrollBy(by);
  else scrollBy(by);
}

export function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
