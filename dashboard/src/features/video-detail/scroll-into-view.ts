/** Where the text is read best, of the height that shows it. */
const READING_LINE = 0.35;
const COMFORTABLE = { from: 0.1, to: 0.65 };
/** Farther, in heights, nobody wants to watch all the text go by. */
const GLIDE_AT_MOST = 1.5;
/** A jump lands where the text was reckoned to be; what is laid out there then moves it a little. */
const CORRECTIONS = 4;

interface ScrollOptions {
  scroller: HTMLElement;
  /** By what sticks to the window's top, in CSS pixels. */
  covered(): number;
}

/**
 * Scrolls so that the range can be read, where it can not. The transcript scrolls by itself beside the player,
 * and with the page below it.
 */
export function bringIntoView(range: Range, options: ScrollOptions, corrections = CORRECTIONS): void {
  const { scroller, covered } = options;
  const ownScroll = getComputedStyle(scroller).overflowY === "auto";
  const box = scroller.getBoundingClientRect();
  const top = ownScroll ? box.top : covered();
  const height = ownScroll ? box.height : innerHeight - top;
  const line = range.getBoundingClientRect();
  if (line.top >= top + height * COMFORTABLE.from && line.bottom <= top + height * COMFORTABLE.to) return;
  const distance = line.top - (top + height * READING_LINE);
  const glides = Math.abs(distance) < height * GLIDE_AT_MOST && !prefersStillness();
  const target = ownScroll ? scroller : window;
  target.scrollBy({ top: distance, behavior: glides ? "smooth" : "instant" });
  if (glides || corrections === 0) return;
  requestAnimationFrame(() => bringIntoView(range, options, corrections - 1));
}

function prefersStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
