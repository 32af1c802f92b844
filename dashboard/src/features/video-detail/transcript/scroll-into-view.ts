/** Target position of the text, as a share of the visible height. */
const READING_LINE = 0.35;
/** Text within this range of the visible height is not scrolled. */
const COMFORTABLE = { from: 0.1, to: 0.65 };
/** Longest distance of a smooth scroll, in visible heights. Longer distances jump. */
const MAX_SMOOTH = 1.5;
/** A jump uses estimated heights, so its target moves when the text around it is laid out. */
const MAX_CORRECTIONS = 4;

/** The transcript scrolls itself on desktops; on phones, the page scrolls. */
export interface TranscriptView {
  scroller: HTMLElement;
  /** Height of the elements that cover the top of the window, in CSS pixels. */
  coveredHeight(): number;
}

/** Returns what scrolls, and where its visible part is in the window. */
export function visibleArea({ scroller, coveredHeight }: TranscriptView) {
  if (getComputedStyle(scroller).overflowY === "auto") {
    const { top, height } = scroller.getBoundingClientRect();
    return { target: scroller, top, height };
  }
  const top = coveredHeight();
  return { target: window, top, height: innerHeight - top };
}

export function scrollIntoView(range: Range, view: TranscriptView, corrections = MAX_CORRECTIONS): void {
  const { target, top, height } = visibleArea(view);
  const line = range.getBoundingClientRect();
  if (line.top >= top + height * COMFORTABLE.from && line.bottom <= top + height * COMFORTABLE.to) return;
  const distance = line.top - (top + height * READING_LINE);
  const isSmooth = Math.abs(distance) < height * MAX_SMOOTH && !prefersReducedMotion();
  target.scrollBy({ top: distance, behavior: isSmooth ? "smooth" : "instant" });
  if (isSmooth || corrections === 0) return;
  requestAnimationFrame(() => scrollIntoView(range, view, corrections - 1));
}

function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
