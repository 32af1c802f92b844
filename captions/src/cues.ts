import { type Direction, readingDirection } from "./direction.ts";
import { joinWords, LINE_WIDTH, NARROW_WIDTH } from "./script.ts";
import { lineWidth, type Measures, measure } from "./word-measures.ts";
import type { Word } from "./words.ts";

export interface Cue {
  /** Seconds; the start of the first word, or the end of the previous cue if that is later. */
  start: number;
  /** Seconds, > `start`, ≤ the start of the next cue. */
  end: number;
  /** One or two lines of plain text. */
  lines: string[];
  direction: Direction;
  /** Speaker of the first word; undefined if unknown. */
  speaker: string | undefined;
}

const MIN_CUE_MS = 1000;
const MAX_CUE_MS = 7000;
/** Maximum reading speed: the width of 20 narrow characters per second. */
const WIDTH_PER_MS = (20 * NARROW_WIDTH) / 1000;
/** To give viewers time to read, a caption stays up to this long after its last word. */
const MAX_LINGER_MS = 1000;
/** No caption spans a pause of this length. */
const LONG_PAUSE_MS = 2000;
/** Shorter gaps between captions would flicker, so the caption stays until the next one. */
const FLICKER_MS = 250;

/** Costs, on the same scale as `Measures.breakCosts`. */
const CUE = 25;
const FULLNESS = 25;
const SECOND_LINE = 5;
const IMBALANCE = 20;
const LINE_BREAK = 0.4;
const SENTENCE_END_WITHIN_LINE = 40;
const SENTENCE_END_AT_LINE_BREAK = 25;
/** Share of the break cost that is added if a caption cuts off a sentence that begins inside it. */
const CUT_SENTENCE = 0.5;
const TOO_SHORT = 100;
const TOO_SHORT_PER_MS = 0.1;
const TOO_FAST_PER_MS = 0.06;
const PAUSE_WITHIN_PER_MS = 0.06;
const FREE_PAUSE_MS = 300;

/**
 * Divides words into captions of at most two lines. Finds the division with the lowest cost by dynamic programming, like
 * the Knuth–Plass line-breaking algorithm, in linear time. The cost of a caption depends on where it ends, how full it
 * is, how its lines are broken and balanced, how short or fast it is, and the pauses and sentence ends within it. A word
 * that is wider than a line gets a line to itself.
 *
 * @param words as returned by `normalizeWords`
 * @param options.language ISO 639 code; determines the direction of text in mixed scripts
 */
export function layOutCues(words: readonly Word[], options: { language: string }): Cue[] {
  const measures = measure(words);
  const cueRanges = cheapestDivision(measures);
  const times = cueTimes(measures, cueRanges);
  return cueRanges.map(({ from, lineBreak, to }, index) => {
    const ranges =
      lineBreak === to
        ? [[from, to]]
        : [
            [from, lineBreak],
            [lineBreak, to],
          ];
    const lines = ranges.map(([i, j]) => joinWords(words.slice(i, j)));
    const direction = readingDirection(lines.join(" "), options.language);
    return { ...times[index]!, lines, direction, speaker: words[from]!.speaker };
  });
}

/**
 * A caption with the words `from` … `to − 1`. The second line begins at word `lineBreak`, which equals `to` if there is
 * only one line.
 */
interface CueRange {
  from: number;
  lineBreak: number;
  to: number;
}

function cheapestDivision(measures: Measures): CueRange[] {
  const { count } = measures;
  const costs = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  const cheapestFroms = new Int32Array(count + 1);
  const lineBreaks = new Int32Array(count + 1);
  costs[0] = 0;
  for (let from = 0; from < count; from++) {
    for (let to = from + 1; to <= count; to++) {
      if (to - from > 1 && !mayShareCue(measures, from, to)) break;
      const lines = cheapestLines(measures, from, to);
      if (lines === null) break;
      const cost = costs[from]! + lines.cost + cueCost(measures, from, lines.lineBreak, to);
      if (cost < costs[to]!) {
        costs[to] = cost;
        cheapestFroms[to] = from;
        lineBreaks[to] = lines.lineBreak;
      }
    }
  }
  const cueRanges: CueRange[] = [];
  for (let to = count; to > 0; to = cheapestFroms[to]!)
    cueRanges.push({ from: cheapestFroms[to]!, lineBreak: lineBreaks[to]!, to });
  return cueRanges.reverse();
}

/** Returns whether word `to − 1` may be in a caption that starts with word `from`. If not, later words may not either. */
function mayShareCue({ starts, ends, channels }: Measures, from: number, to: number): boolean {
  return (
    channels[to - 1] === channels[from] &&
    ends[to - 1]! - starts[from]! <= MAX_CUE_MS &&
    starts[to - 1]! - ends[to - 2]! < LONG_PAUSE_MS
  );
}

/** Returns null if the words need more than two lines. */
function cheapestLines(
  measures: Measures,
  from: number,
  to: number,
): { lineBreak: number; cost: number } | null {
  if (fitsLine(measures, from, to)) return { lineBreak: to, cost: 0 };
  let lineBreak = 0;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let at = to - 1; at > from && fitsLine(measures, at, to); at--) {
    if (!fitsLine(measures, from, at)) continue;
    const difference = Math.abs(lineWidth(measures, from, at) - lineWidth(measures, at, to));
    const balance = (IMBALANCE * difference) / LINE_WIDTH;
    const cost = SECOND_LINE + balance + LINE_BREAK * measures.breakCosts[at - 1]!;
    if (cost < cheapest) {
      cheapest = cost;
      lineBreak = at;
    }
  }
  return cheapest === Number.POSITIVE_INFINITY ? null : { lineBreak, cost: cheapest };
}

function fitsLine(measures: Measures, from: number, to: number): boolean {
  return to - from === 1 || lineWidth(measures, from, to) <= LINE_WIDTH;
}

function cueCost(measures: Measures, from: number, lineBreak: number, to: number): number {
  const { starts, ends, sentenceEnds, breakCosts, count } = measures;
  const width = lineWidth(measures, from, to);
  const shown = cueEnd(measures, from, to, starts[from]!) - starts[from]!;
  let cost = CUE + FULLNESS * (width / (2 * LINE_WIDTH)) ** 2;
  const endCost = to < count ? breakCosts[to - 1]! : 0;
  cost += endCost;
  if (shown < MIN_CUE_MS) cost += TOO_SHORT + TOO_SHORT_PER_MS * (MIN_CUE_MS - shown);
  cost += TOO_FAST_PER_MS * Math.max(0, width / WIDTH_PER_MS - shown);
  for (let i = from; i < to - 1; i++) {
    if (sentenceEnds[i]) {
      cost += i === lineBreak - 1 ? SENTENCE_END_AT_LINE_BREAK : SENTENCE_END_WITHIN_LINE;
      cost += CUT_SENTENCE * endCost;
    }
    cost += PAUSE_WITHIN_PER_MS * Math.max(0, starts[i + 1]! - ends[i]! - FREE_PAUSE_MS);
  }
  return cost;
}

/**
 * Returns the time at which the caption disappears, in milliseconds. This is the end of its last word, or later if
 * viewers need more time to read or the gap before the next caption would be too short. It is never after the start of
 * the next caption, or more than `MAX_CUE_MS` after `start`.
 *
 * @param start milliseconds; later than the first word if the previous caption ends later
 */
function cueEnd(measures: Measures, from: number, to: number, start: number): number {
  const spoken = measures.ends[to - 1]!;
  const next = to < measures.count ? measures.starts[to]! : Number.POSITIVE_INFINITY;
  const readable = start + Math.max(MIN_CUE_MS, Math.ceil(lineWidth(measures, from, to) / WIDTH_PER_MS));
  const wanted = Math.max(spoken, Math.min(readable, Math.max(spoken, start) + MAX_LINGER_MS));
  const end = next - wanted < FLICKER_MS ? next : wanted;
  return Math.min(end, start + MAX_CUE_MS);
}

/**
 * Returns the times of the cues in seconds. WebVTT requires the end of a cue to be after its start, so a cue lasts at
 * least one millisecond even if all its words have the same time.
 */
function cueTimes(measures: Measures, cueRanges: readonly CueRange[]): { start: number; end: number }[] {
  let earliestStart = 0;
  return cueRanges.map(({ from, to }) => {
    const start = Math.max(measures.starts[from]!, earliestStart);
    earliestStart = Math.max(cueEnd(measures, from, to, start), start + 1);
    return { start: start / 1000, end: earliestStart / 1000 };
  });
}
