import type { Hearing } from "../engines/engine.ts";
import { plainText } from "./plain-text.ts";

/**
 * What a speech model writes where nobody speaks, or where it has lost the thread: credits of subtitles,
 * thanks for watching, one phrase over and over. It is told by what the model itself says of it and by what
 * people can say in the time, never by the words. The limits 0.6, −1 and 2.4 are those at which the Whisper
 * paper (section 4.5) takes an attempt for failed; the signs below them count only together.
 */

export interface HearingEvidence
  extends Pick<Hearing, "meanLogProbability" | "compressionRatio" | "noSpeechProbability" | "cutOff"> {
  words: readonly { word: string }[];
}

const SILENT_PROBABILITY = 0.6;
const UNSURE = -0.5;
const VERY_UNSURE = -1.2;
const REPETITIVE = 2.4;
const VERY_REPETITIVE = 4;
/** Nobody speaks faster; a few words more may lie at the edges. */
const MAX_WORDS_PER_SECOND = 7;
const SPARE_WORDS = 3;
/** People who speak say more than this, in words and (where words are long, or not told apart) in letters. */
const FEW = { fromSeconds: 4, wordsPerSecond: 0.7, lettersPerSecond: 3 };
/** A sentence before a long laughter is as little as this, too, but the model hears it well. */
const HARDLY_ANY = {
  fromSeconds: 8,
  wordsPerSecond: 0.5,
  lettersPerSecond: 2.5,
  unsure: -0.35,
  silentProbability: 0.2,
};
const ENOUGH_DOUBTS = 2;

/** @param speechSeconds How long voice activity found somebody to speak. */
export function isInvented(hearing: HearingEvidence, speechSeconds: number): boolean {
  return hearing.words.length > 0 && doubts(hearing, speechSeconds) >= ENOUGH_DOUBTS;
}

function doubts(hearing: HearingEvidence, speechSeconds: number): number {
  const { words, meanLogProbability, compressionRatio, noSpeechProbability, cutOff } = hearing;
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
    (cutOff ? 1 : 0) +
    (tooMany ? 2 : 0) +
    (isTooLittle(words, speechSeconds, FEW) ? 1 : 0) +
    (hardlyAny ? 1 : 0)
  );
}

function isTooLittle(
  words: HearingEvidence["words"],
  seconds: number,
  { fromSeconds, wordsPerSecond, lettersPerSecond }: typeof FEW,
): boolean {
  return (
    seconds >= fromSeconds &&
    words.length < wordsPerSecond * seconds &&
    plainText(words).length < lettersPerSecond * seconds
  );
}

/** Utterances in a row that say the very same: one may be a chorus, or what a model says whenever it hears noise. */
const REPEATS = 3;
const REPEATS_SILENT_PROBABILITY = 0.3;
/** The same words take people about the same time. */
const REPEATS_DURATION_RATIO = 2;

/** Which of the consecutive hearings are one invention repeated: the same words each time, and a sign against them. */
export function repeatedInventions<T extends HearingEvidence & { speechSeconds: number }>(
  hearings: readonly T[],
): Set<T> {
  const invented = new Set<T>();
  const runs: { text: string; hearings: T[] }[] = [];
  for (const hearing of hearings) {
    const text = plainText(hearing.words);
    if (text === "") continue;
    const last = runs.at(-1);
    if (last?.text === text) last.hearings.push(hearing);
    else runs.push({ text, hearings: [hearing] });
  }
  for (const run of runs) {
    if (run.hearings.length >= REPEATS && isDoubtful(run.hearings)) {
      for (const hearing of run.hearings) invented.add(hearing);
    }
  }
  return invented;
}

function isDoubtful(run: readonly (HearingEvidence & { speechSeconds: number })[]): boolean {
  const seconds = run.map(({ speechSeconds }) => speechSeconds);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return (
    Math.max(...seconds) > REPEATS_DURATION_RATIO * Math.min(...seconds) ||
    mean(run.map(({ meanLogProbability }) => meanLogProbability)) < UNSURE ||
    mean(run.map(({ noSpeechProbability }) => noSpeechProbability ?? 0)) > REPEATS_SILENT_PROBABILITY
  );
}
