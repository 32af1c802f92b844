import type { RecognitionResult } from "../engines/engine.ts";
import { withoutRepetitions } from "../engines/phrase-loops.ts";
import { compressionRatio } from "../engines/recognition-result.ts";

export interface RecognitionEvidence
  extends Pick<
    RecognitionResult,
    "meanLogProbability" | "compressionRatio" | "noSpeechProbability" | "truncated"
  > {
  words: readonly { word: string }[];
}

/** This and `REPETITIVE` are limits of the Whisper paper (section 4.5). */
const SILENT_PROBABILITY = 0.6;
const LOW_LOG_PROBABILITY = -0.5;
const VERY_LOW_LOG_PROBABILITY = -1.2;
const REPETITIVE = 2.4;
const VERY_REPETITIVE = 4;
/** Nobody speaks faster, apart from a few additional words at the edges. */
const MAX_WORDS_PER_SECOND = 7;
const ADDITIONAL_WORDS = 3;
/** People say more words than this, or more letters if words are long or not separated by spaces. */
const FEW = { minSeconds: 4, wordsPerSecond: 0.7, lettersPerSecond: 3 };
/** A sentence before long laughter may be as short, so this counts only with low confidence. */
const VERY_FEW = {
  minSeconds: 8,
  wordsPerSecond: 0.5,
  lettersPerSecond: 2.5,
  logProbability: -0.35,
  silentProbability: 0.2,
};
const MIN_SIGNS = 2;

/**
 * Returns whether the text is a hallucination, such as subtitle credits or "thanks for watching", which models write when
 * nobody speaks or decoding has failed. The signs are the model's statistics and the amount of text, not the words. One
 * sign is not enough.
 * @param speechSeconds result of voice activity detection
 */
export function isHallucination(result: RecognitionEvidence, speechSeconds: number): boolean {
  return result.words.length > 0 && countSigns(result, speechSeconds) >= MIN_SIGNS;
}

/**
 * Removes the words of a hallucination. If repetition is the only sign, the speaker may have repeated a phrase, so its
 * first occurrence is kept.
 * @param speechSeconds result of voice activity detection
 */
export function withoutHallucination(result: RecognitionResult, speechSeconds: number): RecognitionResult {
  if (!isHallucination(result, speechSeconds)) return result;
  const isOnlyRepetitive = countSigns({ ...result, compressionRatio: 1 }, speechSeconds) === 0;
  const words = isOnlyRepetitive ? withoutRepetitions(result.words) : [];
  const once = {
    ...result,
    words,
    compressionRatio: compressionRatio(words.map(({ word }) => word).join(" ")),
  };
  return isHallucination(once, speechSeconds) ? { ...result, words: [] } : once;
}

function countSigns(result: RecognitionEvidence, speechSeconds: number): number {
  const { words, meanLogProbability, compressionRatio, noSpeechProbability, truncated } = result;
  const tooMany = words.length > MAX_WORDS_PER_SECOND * speechSeconds + ADDITIONAL_WORDS;
  const veryFew =
    isTooLittle(words, speechSeconds, VERY_FEW) &&
    (meanLogProbability < VERY_FEW.logProbability || (noSpeechProbability ?? 0) > VERY_FEW.silentProbability);
  return (
    (meanLogProbability < LOW_LOG_PROBABILITY ? 1 : 0) +
    (meanLogProbability < VERY_LOW_LOG_PROBABILITY ? 1 : 0) +
    (compressionRatio > REPETITIVE ? 1 : 0) +
    (compressionRatio > VERY_REPETITIVE ? 1 : 0) +
    ((noSpeechProbability ?? 0) > SILENT_PROBABILITY ? 1 : 0) +
    (truncated ? 1 : 0) +
    (tooMany ? 2 : 0) +
    (isTooLittle(words, speechSeconds, FEW) ? 1 : 0) +
    (veryFew ? 1 : 0)
  );
}

function isTooLittle(
  words: RecognitionEvidence["words"],
  seconds: number,
  { minSeconds, wordsPerSecond, lettersPerSecond }: typeof FEW,
): boolean {
  return (
    seconds >= minSeconds &&
    words.length < wordsPerSecond * seconds &&
    plainText(words).length < lettersPerSecond * seconds
  );
}

/** Number of consecutive utterances with identical text. Two may be a chorus. */
const MIN_REPEATS = 3;
const REPEATED_SILENT_PROBABILITY = 0.3;
/** People need about the same time for the same words. */
const MAX_DURATION_RATIO = 2;

/** Returns consecutive results with identical text and another sign of a hallucination. */
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
    if (run.results.length >= MIN_REPEATS && isDoubtful(run.results)) {
      for (const result of run.results) hallucinated.add(result);
    }
  }
  return hallucinated;
}

function isDoubtful(run: readonly (RecognitionEvidence & { speechSeconds: number })[]): boolean {
  const seconds = run.map(({ speechSeconds }) => speechSeconds);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return (
    Math.max(...seconds) > MAX_DURATION_RATIO * Math.min(...seconds) ||
    mean(run.map(({ meanLogProbability }) => meanLogProbability)) < LOW_LOG_PROBABILITY ||
    mean(run.map(({ noSpeechProbability }) => noSpeechProbability ?? 0)) > REPEATED_SILENT_PROBABILITY
  );
}

/** Returns only letters and digits, in lower case. */
export function plainText(words: readonly { word: string }[]): string {
  return words
    .map(({ word }) => word)
    .join("")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
}
