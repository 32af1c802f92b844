/** The target position, as a share of the visible height. */
const READING_LINE = 0.35;
/** Text within this share of the visible height stays where it is. */
const COMFORTABLE = { from: 0.1, to: 0.65 };
/** The longest distance of a smooth scroll, in visible heights. */
const MAX_SMOOTH = 1.5;
/** A jump is based on estimated heights; laying out the target moves it slightly. */
const CORRECTIONS = 4;

interface ScrollOptions {
  scroller: HTMLElement;
  /** Height of what covers the top of the window, in CSS pixels. */
  coveredHeight(): number;
}

/** The transcript scrolls by itself beside the player on desktops, and with the page on phones. */
export function scrollIntoView(range: Range, options: ScrollOptions, corrections = CORRECTIONS): void {
  const { scroller, coveredHeight } = options;
  const scrollsItself = getComputedStyle(scroller).overflowY === "auto";
  const box = scroller.getBoundingClientRect();
  const top = scrollsItself ? box.top : coveredHeight();
  const height = scrollsItself ? box.height : innerHeight - top;
  const line = range.getBoundingClientRect();
  if (line.top >= top + height * COMFORTABLE.from && line.bottom <= top + height * COMFORTABLE.to) return;
  const distance = line.top - (top + height * READING_LINE);
  const isSmooth = Math.abs(distance) < height * MAX_SMOOTH && !prefersReducedMotion();
  const target = scrollsItself ? scroller : window;
  target.scrollBy({ top: distance, behavior: isSmooth ? "smooth" : "instant" });
  if (isSmooth || corrections === 0) return;
  requestAnimationFrame(() => scrollIntoView(range, options, corrections - 1));
}

function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
