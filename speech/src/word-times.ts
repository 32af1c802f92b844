import type { TimedWord } from "./transcript.ts";

/** Seconds of the media in which somebody speaks. */
export interface SpokenStretch {
  start: number;
  end: number;
}

/** Shorter gaps may be stops inside a word. */
const MIN_PAUSE_SECONDS = 0.2;
/** Speech sets in up to a window before it is noticed, and its end is noticed a window late. */
const LATE_SECONDS = 0.03;
/** Speech that is left over beside a pause belongs to the word there, if it is no more than this. */
const LEFT_OVER_SECONDS = 0.25;

/**
 * Fits words to the pauses between them. An aligner lets a word that follows a pause begin inside the pause
 * or late, and one before it run on into it or end early: each word is held to the stretch of speech that
 * it shares most time with, and a word at the edge of a stretch reaches that edge. A word that lies wholly
 * in a pause stays where it is.
 * @param words in order, not overlapping
 * @param speech in order
 */
export function fitToPauses(words: readonly TimedWord[], speech: readonly SpokenStretch[]): TimedWord[] {
  const stretches = betweenPauses(speech);
  const places = words.map((word) => mostShared(stretches, word));
  const fitted: TimedWord[] = [];
  for (const [index, word] of words.entries()) {
    const stretch = places[index];
    if (stretch === undefined) {
      fitted.push(word);
      continue;
    }
    let start = Math.max(word.start, stretch.start - LATE_SECONDS);
    let end = Math.min(word.end, stretch.end);
    const isFirst = places[index - 1] !== stretch;
    const isLast = places[index + 1] !== stretch;
    if (isFirst && start - stretch.start <= LEFT_OVER_SECONDS) start = Math.min(start, stretch.start);
    if (isLast && stretch.end - end <= LEFT_OVER_SECONDS) end = Math.max(end, stretch.end - LATE_SECONDS);
    fitted.push({
      ...word,
      start: Math.max(start, words[index - 1]?.end ?? start),
      end: Math.min(end, words[index + 1]?.start ?? end),
    });
  }
  return fitted;
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
  return stretches;
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
