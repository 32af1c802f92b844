export interface Span {
  text: string;
  /** Milliseconds; NaN if unknown. */
  start: number;
  /** Milliseconds; NaN if unknown. */
  end: number;
  /** 0 … 1. */
  confidence?: number | undefined;
  speaker?: string | undefined;
  channel?: number | undefined;
}

const MAX_UNTIMED_WORD_MS = 500;

/**
 * Makes all times integer milliseconds in [0, limitMs], in order and without overlaps. The order of the spans does not
 * change. A span with only a start or only an end gets that time for both. Spans whose starts form a longest
 * non-decreasing subsequence are trusted. All others are distributed over the gap between their trusted neighbors. Ends
 * are clamped to the next start, because engines report starts more reliably.
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
  for (const index of [...trusted, repaired.length]) {
    const next = repaired[index];
    const previous = repaired[placed - 1];
    if (previous && next) previous.end = Math.min(previous.end, next.start);
    const placedEnd = previous?.end ?? 0;
    const untimedCount = index - placed;
    if (untimedCount > 0) {
      const gapEnd = next?.start ?? limitMs;
      const share = Math.min((gapEnd - placedEnd) / untimedCount, MAX_UNTIMED_WORD_MS);
      // Words before the first timed word are placed directly before it, not at 0.
      const from = previous ? placedEnd : next ? gapEnd - share * untimedCount : 0;
      for (let k = 0; k < untimedCount; k++) {
        const span = repaired[placed + k]!;
        span.start = Math.round(from + share * k);
        span.end = Math.round(from + share * (k + 1));
      }
    }
    placed = index + 1;
  }
  return repaired;
}

/** Returns the indexes of a longest non-decreasing subsequence (patience sorting), ignoring NaN. */
function longestNonDecreasing(values: readonly number[]): number[] {
  /** tails[k]: index of the smallest value that ends a subsequence of length k + 1. */
  const tails: number[] = [];
  const predecessor = new Int32Array(values.length).fill(-1);
  values.forEach((value, index) => {
    if (Number.isNaN(value)) return;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! <= value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) predecessor[index] = tails[low - 1]!;
    tails[low] = index;
  });
  const indices: number[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = predecessor[index]!) indices.push(index);
  return indices.reverse();
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
