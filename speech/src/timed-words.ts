import type { FrameSpan } from "./alignment.ts";
import type { SpelledWord } from "./sentence-piece.ts";
import type { TimedWord } from "./transcript.ts";

export interface TimedWordsInput {
  words: readonly SpelledWord[];
  /** The frames of each token. */
  spans: readonly FrameSpan[];
  /** Natural logarithm of each token's probability. */
  logProbabilities: readonly number[];
  /** Seconds of the media at which the utterance starts. */
  start: number;
  /** Length of the utterance. */
  seconds: number;
  secondsPerFrame: number;
  /** Added to every time, seconds. */
  correction: number;
}

/** No spoken word is shorter; what attention makes shorter is given this much where there is room. */
const MIN_WORD_SECONDS = 0.04;

/**
 * Words with times: in order, not overlapping, inside the utterance, none of zero length. A word's
 * confidence is the geometric mean of its tokens' probabilities.
 */
export function timedWords(input: TimedWordsInput): TimedWord[] {
  const { words, spans, start, seconds } = input;
  const shortest = Math.min(MIN_WORD_SECONDS, seconds / Math.max(1, words.length));
  const at = (frame: number | undefined) => (frame ?? 0) * input.secondsPerFrame + input.correction;

  const times: { start: number; end: number }[] = [];
  let previousEnd = 0;
  for (const { firstToken, endToken } of words) {
    const wordStart = Math.max(previousEnd, at(spans[firstToken]?.start));
    previousEnd = Math.max(wordStart + shortest, at(spans[endToken - 1]?.end));
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

/** 0 where there are none. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
