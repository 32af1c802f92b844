import { removeOverlaps } from "../alignment/fit-words.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import type { LanguageSegment, TimedWord } from "../transcript.ts";
import { mergeChannels } from "./merge-channels.ts";
import type { RecognizedUtterance } from "./recognized-utterance.ts";

export interface RecognizerOptions {
  signal: AbortSignal;
  /** Receives the media time, in seconds, up to which words are final. */
  onSettled: (settledSeconds: number) => void;
}

export interface RecognizedSpeech {
  /** In order, without overlaps, inside the media. */
  words: TimedWord[];
  /** The language with the most speech; `zxx` if there are no words, `und` if undetermined. */
  language: string;
  /** Rounded to milliseconds. */
  speechSeconds: number;
  /** In order, without overlaps; empty if there are no words. */
  languageSegments: LanguageSegment[];
}

/**
 * Joins utterances that were recognized separately into one transcript.
 * @param recognized in order, without overlaps inside a channel
 * @param duration of the media, in seconds
 */
export function transcriptOf(
  recognized: readonly RecognizedUtterance[],
  duration: number,
): Pick<RecognizedSpeech, "words" | "languageSegments"> {
  const hasChannels = recognized.some(({ channel }) => channel !== undefined);
  const utterances = hasChannels ? mergeChannels(recognized, duration) : recognized;
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

/** Returns the language with the most speech among utterances with words; null if there are none. */
export function mostSpoken(utterances: readonly RecognizedUtterance[]): string | null {
  const seconds = new Map<string, number>();
  for (const { language, words, speechSeconds } of utterances) {
    if (words.length > 0) seconds.set(language, (seconds.get(language) ?? 0) + speechSeconds);
  }
  let most: string | null = null;
  for (const [language, spoken] of seconds) {
    if (most === null || roundToMs(spoken) > roundToMs(seconds.get(most) as number)) most = language;
  }
  return most;
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
    const from = roundToMs(Math.min(Math.max(start, earliest), duration));
    const to = roundToMs(Math.min(Math.max(end, from), duration));
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
  return seconds === 0 ? 0 : roundToMs(Math.min(1, sum / seconds));
}
