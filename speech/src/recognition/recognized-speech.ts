import { fitToPauses, removeOverlaps } from "../alignment/fit-words.ts";
import type { RecognitionResult } from "../engines/engine.ts";
import type { LanguageSegment, TimedWord } from "../transcript.ts";
import { speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

export interface RecognizerOptions {
  signal: AbortSignal;
  /** Receives the time in the media up to which words are final, seconds. */
  onSettled: (settledSeconds: number) => void;
}

export interface RecognizedSpeech {
  /** In order, without overlaps, inside the media. */
  words: TimedWord[];
  /** The language with the most speech; `zxx` without words, `und` if undetermined. */
  language: string;
  /** With 3 decimals. */
  speechSeconds: number;
  /** In order, without overlaps; empty without words. */
  languageSegments: LanguageSegment[];
}

/** The result for an utterance or a part of one, without its samples. */
export interface RecognizedUtterance {
  /** Seconds of the media, from the first to the last span of speech. */
  start: number;
  end: number;
  /** Seconds of speech, excluding pauses. */
  speechSeconds: number;
  words: readonly TimedWord[];
  /** `und` if undetermined. */
  language: string;
  probability: number;
  engine: string;
  hasEstimatedTimes?: boolean;
}

interface Recognition {
  language: string;
  probability: number;
  engine: string;
}

/** Fits the words to the pauses of the utterance. */
export function recognizedUtterance(
  utterance: SpokenUtterance,
  words: RecognitionResult["words"],
  { language, probability, engine }: Recognition,
): RecognizedUtterance {
  const { speech, start } = utterance;
  return {
    start: speech[0]?.start ?? start,
    end: speech.at(-1)?.end ?? start,
    speechSeconds: speechSeconds(utterance),
    words: fitToPauses(words, speech),
    language,
    probability,
    engine,
  };
}

/**
 * Joins utterances that were recognized separately into one transcript.
 * @param utterances in order, without overlaps
 * @param duration seconds of the media
 */
export function transcriptOf(
  utterances: readonly RecognizedUtterance[],
  duration: number,
): Pick<RecognizedSpeech, "words" | "languageSegments"> {
  const words = removeOverlaps(
    utterances.flatMap((utterance) => utterance.words),
    duration,
  );
  const runs: Run[] = [];
  let firstWord = 0;
  for (const utterance of utterances) {
    const count = utterance.words.length;
    if (count === 0) continue;
    const start = Math.min(utterance.start, words[firstWord]!.start);
    const end = Math.max(utterance.end, words[firstWord + count - 1]!.end);
    firstWord += count;
    const last = runs.at(-1);
    if (last?.language === utterance.language && last.engine === utterance.engine) {
      last.end = end;
      last.utterances.push(utterance);
    } else {
      runs.push({
        start,
        end,
        language: utterance.language,
        engine: utterance.engine,
        utterances: [utterance],
      });
    }
  }
  return { words, languageSegments: languageSegmentsOf(runs, duration) };
}

/** Returns the language with the most speech among utterances with words; null without words. */
export function mostSpoken(utterances: readonly RecognizedUtterance[]): string | null {
  const seconds = new Map<string, number>();
  for (const { language, words, speechSeconds } of utterances) {
    if (words.length > 0) seconds.set(language, (seconds.get(language) ?? 0) + speechSeconds);
  }
  let most: string | null = null;
  for (const [language, spoken] of seconds) {
    if (most === null || milliseconds(spoken) > milliseconds(seconds.get(most) as number)) most = language;
  }
  return most;
}

export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

interface Run {
  start: number;
  end: number;
  language: string;
  engine: string;
  utterances: RecognizedUtterance[];
}

function languageSegmentsOf(runs: readonly Run[], duration: number): LanguageSegment[] {
  let earliest = 0;
  return runs.map(({ start, end, language, engine, utterances }) => {
    const from = milliseconds(Math.min(Math.max(start, earliest), duration));
    const to = milliseconds(Math.min(Math.max(end, from), duration));
    earliest = to;
    return {
      start: from,
      end: to,
      language,
      probability: meanProbability(utterances),
      engine,
      words: utterances.reduce((sum, { words }) => sum + words.length, 0),
      ...(utterances.some(({ hasEstimatedTimes }) => hasEstimatedTimes) && { hasEstimatedTimes: true }),
    };
  });
}

/** Returns the mean weighted by seconds of speech. */
export function meanProbability(utterances: readonly RecognizedUtterance[]): number {
  let seconds = 0;
  let sum = 0;
  for (const { probability, speechSeconds } of utterances) {
    seconds += speechSeconds;
    sum += probability * speechSeconds;
  }
  return seconds === 0 ? 0 : milliseconds(Math.min(1, sum / seconds));
}
