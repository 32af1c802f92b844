import type { TimedWord } from "../transcript.ts";
import type { FrameSpan } from "./align-tokens.ts";

/** A word of decoded text and the tokens that spell it: `[firstToken, endToken)`, never empty. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
  /**
   * The pronounced part of these tokens if it is not all of them, as fractional token positions: from 3.5 to
   * 5 is the second half of token 3 and all of token 4. Punctuation at the ends is not pronounced. If a token
   * spells the end of one word and the start of the next, each gets its share of the token's time, so `to` of
   * a word is never after `from` of the next.
   */
  spoken?: { from: number; to: number };
}

export interface TimedWordsInput {
  words: readonly SpelledWord[];
  /** The frames of each token. */
  spans: readonly FrameSpan[];
  /** Natural logarithm of each token's probability. */
  logProbabilities: readonly number[];
  /** Seconds of the media at the start of the utterance. */
  start: number;
  /** Length of the utterance, seconds. */
  seconds: number;
  secondsPerFrame: number;
  /** Seconds that are added to every time. */
  correction: number;
}

/** Minimum length of a word, if there is room. */
export const MIN_WORD_SECONDS = 0.04;

/**
 * Returns words with times: in order, not overlapping, inside the utterance, none of zero length. Words that
 * share a token share its time. A word's confidence is the geometric mean of its tokens' probabilities.
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

/** Frame at a fractional token position: `place` is from `token` to `token + 1`. */
function frameAt(spans: readonly FrameSpan[], token: number, place: number): number {
  const span = spans[Math.max(0, Math.min(token, spans.length - 1))];
  return span === undefined ? 0 : span.start + (place - token) * (span.end - span.start);
}

/** Returns 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
