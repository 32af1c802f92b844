/** A piece of text with its position in the media, in milliseconds. */
export interface Span {
  text: string;
  /** Milliseconds; NaN where unknown. */
  start: number;
  /** Milliseconds; NaN where unknown. */
  end: number;
  /** 0 … 1. */
  confidence?: number | undefined;
}

/** Maximum share of a gap for a word without times. */
const UNKNOWN_WORD_MS = 500;

/**
 * Gives every span times that are whole milliseconds, ordered, without overlap and inside [0, limitMs]. Keeps
 * the order of the spans. Trusts the largest set of starts that agrees with that order (a longest
 * non-decreasing subsequence, by patience sorting); a span whose start contradicts it or is not a number is
 * placed in the gap between its neighbors. If an end is after the next start, the end is moved, because
 * engines know starts better than ends.
 */
export function repairTimes(spans: readonly Span[], limitMs: number): Span[] {
  const repaired = spans.map((span): Span => {
    const { start, end } = span;
    const from = Number.isFinite(start) ? start : end;
    const to = Number.isFinite(end) ? end : start;
    if (!Number.isFinite(from)) return { ...span, start: Number.NaN, end: Number.NaN };
    const startMs = clamp(Math.round(from), 0, limitMs);
    return { ...span, start: startMs, end: clamp(Math.round(to), startMs, limitMs) };
  });
  const trusted = longestNonDecreasing(repaired.map((span) => span.start));

  let placed = 0;
  let placedEnd = 0;
  for (const index of [...trusted, repaired.length]) {
    const next = repaired[index];
    const previous = repaired[placed - 1];
    if (previous && next) previous.end = Math.min(previous.end, next.start);
    placedEnd = previous?.end ?? 0;
    const unknown = index - placed;
    if (unknown > 0) {
      const gapEnd = next?.start ?? limitMs;
      const share = Math.min((gapEnd - placedEnd) / unknown, UNKNOWN_WORD_MS);
      // Words before the first known word are close to it, not at the beginning of the media.
      const from = previous ? placedEnd : next ? gapEnd - share * unknown : 0;
      for (let k = 0; k < unknown; k++) {
        const span = repaired[placed + k]!;
        span.start = Math.round(from + share * k);
        span.end = Math.round(from + share * (k + 1));
      }
    }
    placed = index + 1;
  }
  return repaired;
}

/** Indexes of a longest non-decreasing subsequence, without NaN. */
function longestNonDecreasing(values: readonly number[]): number[] {
  /** tails[k]: the index at which a subsequence of length k + 1 ends with the smallest value. */
  const tails: number[] = [];
  const before = new Int32Array(values.length).fill(-1);
  values.forEach((value, index) => {
    if (Number.isNaN(value)) return;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! <= value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1]!;
    tails[low] = index;
  });
  const indices: number[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index]!) indices.push(index);
  return indices.reverse();
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
