import type { TimedWord } from "../transcript.ts";
import { MIN_WORD_SECONDS } from "./timed-words.ts";

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
 * Nobody takes longer for a word than this and this much for each of its characters: the engine has left
 * out what was said beside it, and the word was given its time.
 */
const LONGEST_WORD_SECONDS = 2;
const LONGEST_CHARACTER_SECONDS = 0.1;

/**
 * Fits words to the pauses between them. An aligner lets a word that follows a pause begin inside the pause
 * or late, and one before it run on into it or end early: each word is held to the stretch of speech that
 * it shares most time with, and a word at the edge of a stretch reaches that edge. A word that lies wholly
 * in a pause stays where it is. A word that is longer than anybody takes for it keeps its end where it is the
 * first of its stretch, its beginning elsewhere.
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
      fitted.push(shortened(word, "start"));
      continue;
    }
    let start = Math.max(word.start, stretch.start - LATE_SECONDS);
    let end = Math.min(word.end, stretch.end);
    const isFirst = places[index - 1] !== stretch;
    const isLast = places[index + 1] !== stretch;
    if (isFirst && start - stretch.start <= LEFT_OVER_SECONDS) start = Math.min(start, stretch.start);
    if (isLast && stretch.end - end <= LEFT_OVER_SECONDS) end = Math.max(end, stretch.end - LATE_SECONDS);
    const trimmed = {
      ...word,
      start: Math.max(start, words[index - 1]?.end ?? start),
      end: Math.min(end, words[index + 1]?.start ?? end),
    };
    fitted.push(shortened(trimmed, isFirst && !isLast ? "end" : "start"));
  }
  return fitted;
}

function shortened(word: TimedWord, kept: "start" | "end"): TimedWord {
  const longest = LONGEST_WORD_SECONDS + LONGEST_CHARACTER_SECONDS * [...word.word].length;
  if (word.end - word.start <= longest) return word;
  return kept === "end" ? { ...word, start: word.end - longest } : { ...word, end: word.start + longest };
}

/**
 * One transcript from words that were heard apart: none begins before the one before it has ended, none
 * ends after the media, and all take 40 ms at least, less only where the media is too short for so many.
 * Times get 3 decimals.
 */
export function inOrder(words: readonly TimedWord[], duration: number): TimedWord[] {
  const media = Math.floor(1000 * duration + 1e-6);
  const shortest = Math.min(1000 * MIN_WORD_SECONDS, Math.floor(media / Math.max(1, words.length)));
  const times: { start: number; end: number }[] = [];
  let earliest = 0;
  for (const word of words) {
    const start = Math.max(Math.round(1000 * word.start), earliest);
    earliest = Math.max(Math.round(1000 * word.end), start + shortest);
    times.push({ start, end: earliest });
  }
  let latest = media;
  for (const time of times.toReversed()) {
    time.end = Math.min(time.end, latest);
    time.start = Math.min(time.start, time.end - shortest);
    latest = time.start;
  }
  return words.map((word, index) => ({
    ...word,
    start: times[index]!.start / 1000,
    end: times[index]!.end / 1000,
  }));
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
