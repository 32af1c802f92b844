/** Rounds seconds to whole milliseconds. */
export function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
