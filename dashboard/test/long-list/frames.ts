import type { Page } from "playwright-core";

/** An interval between frames that is longer than the median of an idle page by this factor has dropped a frame. */
const DROPPED = 1.5;

/** Returns the intervals between the frames of the page during an action, in milliseconds. */
export async function frameIntervals(page: Page, action: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(`{
    const frames = (window.frames_ = { times: [], isRunning: true });
    requestAnimationFrame(function record(time) {
      frames.times.push(time);
      if (frames.isRunning) requestAnimationFrame(record);
    });
  }`);
  await action();
  const times = await page.evaluate<number[]>(`(frames_.isRunning = false, frames_.times)`);
  return times.slice(1).map((time, index) => time - times[index]!);
}

/** @returns frames, median ms, p95 ms, longest ms, and dropped frames */
export function describeFrames(intervals: number[], idleMedianMs: number): string[] {
  const sorted = [...intervals].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  const late = intervals.filter((ms) => ms > DROPPED * idleMedianMs);
  const lost = late.reduce((sum, ms) => sum + Math.round(ms / idleMedianMs) - 1, 0);
  const share = ((100 * late.length) / intervals.length).toFixed(1);
  return [
    String(intervals.length),
    at(0.5).toFixed(1),
    at(0.95).toFixed(1),
    at(1).toFixed(0),
    `${late.length} (${share} %)`,
    String(lost),
  ];
}

/**
 * Returns a function that returns the processor time of the page's main thread so far, in milliseconds. Unlike frames,
 * it does not depend on what else the machine does.
 */
export async function mainThreadTime(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
}

/** Waits until an expression is true in a frame. Playwright's own function is refused by the Content-Security-Policy. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const check = () => (${expression} ? resolve() : requestAnimationFrame(check));
    check();
  })`);
}
