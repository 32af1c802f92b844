/** Target position of the text, as a share of the visible height. */
const READING_LINE = 0.35;
/** Text within this range of the visible height is not scrolled. */
const COMFORTABLE = { from: 0.1, to: 0.65 };
/** Longest distance of a smooth scroll, in visible heights. Longer distances jump. */
const MAX_SMOOTH = 1.5;
/** A jump uses estimated heights, so its target moves when the text around it is laid out. */
const MAX_CORRECTIONS = 4;

interface ScrollOptions {
  scroller: HTMLElement;
  /** Height of the elements that cover the top of the window, in CSS pixels. */
  coveredHeight(): number;
}

/** Scrolls the transcript itself on desktops, and the page on phones. */
export function scrollIntoView(range: Range, options: ScrollOptions, corrections = MAX_CORRECTIONS): void {
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
