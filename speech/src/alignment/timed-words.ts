import type { TimedWord } from "../transcript.ts";
import type { FrameSpan } from "./align-tokens.ts";

/** A word of decoded text and its tokens `[firstToken, endToken)`, at least one. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
  /**
   * The range of the word without punctuation at its ends, in fractional tokens: 3.5 to 5 is the second half of token 3
   * and all of token 4. Omitted if it contains all tokens. If two words share a token, their ranges do not overlap.
   */
  spoken?: { from: number; to: number };
}

export interface TimedWordsInput {
  words: readonly SpelledWord[];
  spans: readonly FrameSpan[];
  /** Natural logarithm of each token's probability. */
  logProbabilities: readonly number[];
  /** Start of the utterance in the media, seconds. */
  start: number;
  /** Length of the utterance. */
  seconds: number;
  secondsPerFrame: number;
  /** Added to every time, seconds. */
  correction: number;
}

/** Words are shorter only if there is no room. */
export const MIN_WORD_SECONDS = 0.04;

/**
 * Returns words with times, in order and without overlaps. Every word is inside the utterance and longer than zero. Its
 * confidence is the geometric mean of its tokens' probabilities.
 */
export function timedWords(input: TimedWordsInput): TimedWord[] {
  const { words, spans, start, seconds } = input;
  const shortest = Math.min(MIN_WORD_SECONDS, seconds / Math.max(1, words.length));
  const at = (frame: number) => frame * input.secondsPerFrame + input.correction;

  const times: { start: number; end: number }[] = [];
  let previousEnd = 0;
  for (const { firstToken, endToken, spoken } of words) {
    const { from, to } = spoken ?? { from: firstToken, to: endToken };
    const wordStart = Math.max(previousEnd, at(frameAt(spans, Math.floor(from), from)));
    previousEnd = Math.max(wordStart + shortest, at(frameAt(spans, Math.ceil(to) - 1, to)));
    times.push({ start: wordStart, end: previousEnd });
  }
  let limit = seconds;
  for (const time of times.toReversed()) {
    time.end = Math.min(time.end, limit);
    time.start = Math.max(0, Math.min(time.start, time.end - shortest));
    limit = time.start;
  }
  return words.map(({ text, firstToken, endToken }, index) => ({
    word: text,
    start: start + (times[index]?.start ?? 0),
    end: start + (times[index]?.end ?? 0),
    confidence: Math.exp(mean(input.logProbabilities.slice(firstToken, endToken))),
  }));
}

/** @param position from `token` to `token + 1` */
function frameAt(spans: readonly FrameSpan[], token: number, position: number): number {
  const span = spans[Math.max(0, Math.min(token, spans.length - 1))];
  return span === undefined ? 0 : span.start + (position - token) * (span.end - span.start);
}

/** Returns 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
