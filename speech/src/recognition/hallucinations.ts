import type { RecognitionResult } from "../engines/engine.ts";

/**
 * Detects hallucinations: what a speech model writes when nobody speaks or when decoding has gone wrong, such
 * as subtitle credits, "thanks for watching" or one phrase over and over. The evidence is what the model
 * reports about its decoding and how much people can say in the time, never the words themselves. The limits
 * 0.6, −1 and 2.4 are those of a failed attempt in the Whisper paper (section 4.5); weaker signs count only
 * together.
 */

export interface RecognitionEvidence
  extends Pick<
    RecognitionResult,
    "meanLogProbability" | "compressionRatio" | "noSpeechProbability" | "truncated"
  > {
  words: readonly { word: string }[];
}

const SILENT_PROBABILITY = 0.6;
const UNSURE = -0.5;
const VERY_UNSURE = -1.2;
const REPETITIVE = 2.4;
const VERY_REPETITIVE = 4;
/** Faster than anyone speaks. Allows a few additional words at the edges. */
const MAX_WORDS_PER_SECOND = 7;
const SPARE_WORDS = 3;
/** People say more than this, in words and (if words are long or not separated) in letters. */
const FEW = { fromSeconds: 4, wordsPerSecond: 0.7, lettersPerSecond: 3 };
/** A sentence before long laughter contains as little as this too, but the model is confident about it. */
const HARDLY_ANY = {
  fromSeconds: 8,
  wordsPerSecond: 0.5,
  lettersPerSecond: 2.5,
  unsure: -0.35,
  silentProbability: 0.2,
};
const ENOUGH_DOUBTS = 2;

/** @param speechSeconds As detected by voice activity detection. */
export function isHallucination(result: RecognitionEvidence, speechSeconds: number): boolean {
  return result.words.length > 0 && doubts(result, speechSeconds) >= ENOUGH_DOUBTS;
}

function doubts(result: RecognitionEvidence, speechSeconds: number): number {
  const { words, meanLogProbability, compressionRatio, noSpeechProbability, truncated } = result;
  const tooMany = words.length > MAX_WORDS_PER_SECOND * speechSeconds + SPARE_WORDS;
  const hardlyAny =
    isTooLittle(words, speechSeconds, HARDLY_ANY) &&
    (meanLogProbability < HARDLY_ANY.unsure || (noSpeechProbability ?? 0) > HARDLY_ANY.silentProbability);
  return (
    (meanLogProbability < UNSURE ? 1 : 0) +
    (meanLogProbability < VERY_UNSURE ? 1 : 0) +
    (compressionRatio > REPETITIVE ? 1 : 0) +
    (compressionRatio > VERY_REPETITIVE ? 1 : 0) +
    ((noSpeechProbability ?? 0) > SILENT_PROBABILITY ? 1 : 0) +
    (truncated ? 1 : 0) +
    (tooMany ? 2 : 0) +
    (isTooLittle(words, speechSeconds, FEW) ? 1 : 0) +
    (hardlyAny ? 1 : 0)
  );
}

function isTooLittle(
  words: RecognitionEvidence["words"],
  seconds: number,
  { fromSeconds, wordsPerSecond, lettersPerSecond }: typeof FEW,
): boolean {
  return (
    seconds >= fromSeconds &&
    words.length < wordsPerSecond * seconds &&
    plainText(words).length < lettersPerSecond * seconds
  );
}

/**
 * Consecutive utterances with identical text: a single repetition may be a chorus, or what a model writes for
 * any noise.
 */
const REPEATS = 3;
const REPEATS_SILENT_PROBABILITY = 0.3;
/** People take about the same time for the same words. */
const REPEATS_DURATION_RATIO = 2;

/** Returns the consecutive results that repeat one hallucination: identical text with a sign against it. */
export function repeatedHallucinations<T extends RecognitionEvidence & { speechSeconds: number }>(
  results: readonly T[],
): Set<T> {
  const hallucinated = new Set<T>();
  const runs: { text: string; results: T[] }[] = [];
  for (const result of results) {
    const text = plainText(result.words);
    if (text === "") continue;
    const last = runs.at(-1);
    if (last?.text === text) last.results.push(result);
    else runs.push({ text, results: [result] });
  }
  for (const run of runs) {
    if (run.results.length >= REPEATS && isDoubtful(run.results)) {
      for (const result of run.results) hallucinated.add(result);
    }
  }
  return hallucinated;
}

function isDoubtful(run: readonly (RecognitionEvidence & { speechSeconds: number })[]): boolean {
  const seconds = run.map(({ speechSeconds }) => speechSeconds);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return (
    Math.max(...seconds) > REPEATS_DURATION_RATIO * Math.min(...seconds) ||
    mean(run.map(({ meanLogProbability }) => meanLogProbability)) < UNSURE ||
    mean(run.map(({ noSpeechProbability }) => noSpeechProbability ?? 0)) > REPEATS_SILENT_PROBABILITY
  );
}

/** Returns only letters and digits, in lower case, without spaces: what does not depend on punctuation. */
export function plainText(words: readonly { word: string }[]): string {
  return words
    .map(({ word }) => word)
    .join("")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
}
