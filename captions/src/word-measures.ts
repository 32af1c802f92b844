import { endsClause, endsSentence, opensPhrase } from "./punctuation.ts";
import { displayWidth, NARROW_WIDTH, needsSpace } from "./script.ts";
import type { Word } from "./words.ts";

/**
 * The numbers that the layout needs, indexed by word. Typed arrays keep the layout of twelve-hour recordings fast. Times
 * are integer milliseconds; widths are in the unit of `displayWidth`.
 */
export interface Measures {
  count: number;
  starts: Float64Array;
  ends: Float64Array;
  /** Width of all words and spaces before word i, if all words were on one line. */
  offsets: Float64Array;
  widths: Float64Array;
  sentenceEnds: Uint8Array;
  /** 0 if the channels were mixed. */
  channels: Uint8Array;
  /** Cost of ending a line or a caption after word i. */
  breakCosts: Float64Array;
}

/** Costs have no unit; only their ratios matter. The values were tuned by reading captions of real speech. */
const NO_MARK = 60;
const CLAUSE = 15;
/**
 * Articles, prepositions and conjunctions belong to the next word and are short in most languages. A break after a short
 * word therefore costs this much more for each character below `SHORT_WORD_CHARACTERS`, and a break before one this
 * much less.
 */
const SHORT_WORD = 5;
const BEFORE_SUFFIX = 25;
/** A break at a pause of this length is free, like a break after a period. */
const FULL_PAUSE_MS = 1000;
const SHORT_WORD_CHARACTERS = 5;
/** Japanese particles and endings belong to the previous word. They are written in Hiragana. */
const SUFFIX = /^\p{Script=Hiragana}+\P{L}*$/u;

export function measure(words: readonly Word[]): Measures {
  const count = words.length;
  const measures: Measures = {
    count,
    starts: Float64Array.from(words, (word) => Math.round(word.start * 1000)),
    ends: Float64Array.from(words, (word) => Math.round(word.end * 1000)),
    offsets: new Float64Array(count),
    widths: Float64Array.from(words, ({ word }) => displayWidth(word)),
    sentenceEnds: Uint8Array.from(words, ({ word }) => (endsSentence(word) ? 1 : 0)),
    channels: Uint8Array.from(words, ({ channel }) => channel ?? 0),
    breakCosts: new Float64Array(count),
  };
  for (let i = 0; i < count - 1; i++) {
    const word = words[i]!.word;
    const next = words[i + 1]!.word;
    const spaced = needsSpace(word, next);
    measures.offsets[i + 1] = measures.offsets[i]! + measures.widths[i]! + (spaced ? NARROW_WIDTH : 0);
    const pause = measures.starts[i + 1]! - measures.ends[i]!;
    const costFactor = Math.max(0, 1 - pause / FULL_PAUSE_MS);
    const isFree = measures.sentenceEnds[i] || words[i]!.channel !== words[i + 1]!.channel;
    measures.breakCosts[i] = isFree ? 0 : costFactor * textBreakCost(word, next, spaced);
  }
  return measures;
}

function shortness(word: string): number {
  return Math.max(0, SHORT_WORD_CHARACTERS - displayWidth(word) / NARROW_WIDTH);
}

function textBreakCost(word: string, next: string, spaced: boolean): number {
  if (endsClause(word) || opensPhrase(next)) return CLAUSE;
  if (SUFFIX.test(next)) return NO_MARK + BEFORE_SUFFIX;
  if (!spaced) return NO_MARK;
  return NO_MARK + SHORT_WORD * (shortness(word) - shortness(next));
}

/** Returns the width of words i … j − 1 on one line. */
export function lineWidth(measures: Measures, i: number, j: number): number {
  return measures.offsets[j - 1]! + measures.widths[j - 1]! - measures.offsets[i]!;
}
