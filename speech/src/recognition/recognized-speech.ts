import { fitToPauses, inOrder } from "../alignment/fit-words.ts";
import type { Hearing } from "../engines/engine.ts";
import type { LanguageStretch, TimedWord } from "../transcript.ts";
import { speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

export interface ListenOptions {
  signal: AbortSignal;
  /** Told how far words are settled, in seconds of the media. */
  onHeard: (settledSeconds: number) => void;
}

/** What was heard in a recording. */
export interface Heard {
  /** In order, not overlapping, inside the media. */
  words: TimedWord[];
  /** The language spoken most: `zxx` where no words were heard, `und` where no language can be told. */
  language: string;
  /** Seconds in which somebody speaks, 3 decimals. */
  voiced: number;
  /** In order, not overlapping; none without words. */
  stretches: LanguageStretch[];
}

/** What was heard in one utterance, or a part of one, without its samples. */
export interface HeardUtterance {
  /** Seconds of the media in which somebody speaks: from the first word's sound to the last one's. */
  start: number;
  end: number;
  /** Without pauses. */
  speechSeconds: number;
  words: readonly TimedWord[];
  /** `und` where none can be told. */
  language: string;
  /** Of that language, 0 … 1. */
  probability: number;
  engine: string;
}

interface HeardIn {
  language: string;
  probability: number;
  engine: string;
}

/** Its words are fitted to the pauses of the utterance. */
export function heardUtterance(
  utterance: SpokenUtterance,
  words: Hearing["words"],
  { language, probability, engine }: HeardIn,
): HeardUtterance {
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
 * One transcript from utterances that were heard apart.
 * @param utterances in order, not overlapping
 * @param duration Seconds of the media.
 */
export function transcriptOf(
  utterances: readonly HeardUtterance[],
  duration: number,
): Pick<Heard, "words" | "stretches"> {
  const words = inOrder(
    utterances.flatMap((utterance) => utterance.words),
    duration,
  );
  const runs: Run[] = [];
  let taken = 0;
  for (const utterance of utterances) {
    const count = utterance.words.length;
    if (count === 0) continue;
    const start = Math.min(utterance.start, words[taken]!.start);
    const end = Math.max(utterance.end, words[taken + count - 1]!.end);
    taken += count;
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
  return { words, stretches: stretchesOf(runs, duration) };
}

/** The language with most speech among what has words, the first of those with as much; null without words. */
export function mostSpoken(utterances: readonly HeardUtterance[]): string | null {
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
  utterances: HeardUtterance[];
}

function stretchesOf(runs: readonly Run[], duration: number): LanguageStretch[] {
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
    };
  });
}

/** Weighted by seconds of speech. */
export function meanProbability(utterances: readonly HeardUtterance[]): number {
  let seconds = 0;
  let sum = 0;
  for (const { probability, speechSeconds } of utterances) {
    seconds += speechSeconds;
    sum += probability * speechSeconds;
  }
  return seconds === 0 ? 0 : milliseconds(Math.min(1, sum / seconds));
}
