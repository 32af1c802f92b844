import type { TimedWord } from "./transcript.ts";

/** Seconds of the media in which somebody speaks. */
export interface SpokenStretch {
  start: number;
  end: number;
}

/** Shorter gaps may be stops inside a word. */
const MIN_PAUSE_SECONDS = 0.2;
/** Speech sets in up to a window before it is noticed, and fades out after it is. */
const ONSET_SECONDS = 0.03;
const FADE_SECONDS = 0.06;

/**
 * Trims words at pauses. An aligner lets a word that follows a pause begin inside the pause, and one before
 * it run on into it: each word is held to the stretch of speech that it shares most time with. A word that
 * lies wholly in a pause stays where it is.
 * @param words in order
 * @param speech in order
 */
export function trimAtPauses(words: readonly TimedWord[], speech: readonly SpokenStretch[]): TimedWord[] {
  const stretches = betweenPauses(speech);
  return words.map((word) => {
    const stretch = mostShared(stretches, word);
    if (stretch === undefined) return word;
    return { ...word, start: Math.max(word.start, stretch.start), end: Math.min(word.end, stretch.end) };
  });
}

/**
 * One transcript from words that were heard apart: none begins before the one before it has ended, and none
 * ends after the media. Times get 3 decimals.
 */
export function inOrder(words: readonly TimedWord[], duration: number): TimedWord[] {
  let earliest = 0;
  return words.map((word) => {
    const start = milliseconds(Math.min(Math.max(word.start, earliest), duration));
    const end = milliseconds(Math.min(Math.max(word.end, start), duration));
    earliest = end;
    return { ...word, start, end };
  });
}

function betweenPauses(speech: readonly SpokenStretch[]): SpokenStretch[] {
  const stretches: SpokenStretch[] = [];
  for (const { start, end } of speech) {
    const last = stretches.at(-1);
    if (last !== undefined && start - last.end < MIN_PAUSE_SECONDS) last.end = end;
    else stretches.push({ start, end });
  }
  return stretches.map(({ start, end }) => ({ start: start - ONSET_SECONDS, end: end + FADE_SECONDS }));
}

function mostShared(stretches: readonly SpokenStretch[], word: TimedWord): SpokenStretch | undefined {
  let most = 0;
  let found: SpokenStretch | undefined;
  for (const stretch of stretches) {
    const shared = Math.min(stretch.end, word.end) - Math.max(stretch.start, word.start);
    if (shared <= most) continue;
    most = shared;
    found = stretch;
  }
  return found;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
