import type { TimedWord } from "../transcript.ts";
import { MIN_WORD_SECONDS } from "./timed-words.ts";

/** Seconds of the media that contain speech. */
export interface SpeechSpan {
  start: number;
  end: number;
}

/** Shorter gaps may be stop consonants inside a word. */
const MIN_PAUSE_SECONDS = 0.2;
/** Voice activity detection reports the start and the end of speech up to one window late. */
const LATE_SECONDS = 0.03;
/** Uncovered speech next to a pause belongs to the adjacent word if it is not longer than this. */
const UNCOVERED_SECONDS = 0.25;
/** A word longer than this, plus this much for each character, has absorbed speech that the engine omitted. */
const LONGEST_WORD_SECONDS = 2;
const LONGEST_CHARACTER_SECONDS = 0.1;

/**
 * Fits words to the pauses between them. An aligner may start a word after a pause inside the pause or too
 * late, and end a word before it inside the pause or too early. Each word is limited to the span of speech
 * that it overlaps most, and a word at the edge of a span extends to that edge. A word entirely inside a
 * pause keeps its times. A word that is implausibly long keeps its end if it is the first of its span, else
 * its start.
 * @param words in order, not overlapping
 * @param speech in order
 */
export function fitToPauses(words: readonly TimedWord[], speech: readonly SpeechSpan[]): TimedWord[] {
  const spans = betweenPauses(speech);
  const places = words.map((word) => mostOverlapping(spans, word));
  const fitted: TimedWord[] = [];
  for (const [index, word] of words.entries()) {
    const span = places[index];
    if (span === undefined) {
      fitted.push(shortened(word, "start"));
      continue;
    }
    let start = Math.max(word.start, span.start - LATE_SECONDS);
    let end = Math.min(word.end, span.end);
    const isFirst = places[index - 1] !== span;
    const isLast = places[index + 1] !== span;
    if (isFirst && start - span.start <= UNCOVERED_SECONDS) start = Math.min(start, span.start);
    if (isLast && span.end - end <= UNCOVERED_SECONDS) end = Math.max(end, span.end - LATE_SECONDS);
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
 * Joins words that were aligned separately into one sequence without overlaps, inside the media. Each word
 * lasts at least 40 ms, less only if the media is too short for so many words. Times are rounded to 3
 * decimals.
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

function betweenPauses(speech: readonly SpeechSpan[]): SpeechSpan[] {
  const spans: SpeechSpan[] = [];
  for (const { start, end } of speech) {
    const last = spans.at(-1);
    if (last !== undefined && start - last.end < MIN_PAUSE_SECONDS) last.end = end;
    else spans.push({ start, end });
  }
  return spans;
}

function mostOverlapping(spans: readonly SpeechSpan[], word: TimedWord): SpeechSpan | undefined {
  let most = 0;
  let found: SpeechSpan | undefined;
  for (const span of spans) {
    const shared = Math.min(span.end, word.end) - Math.max(span.start, word.start);
    if (shared <= most) continue;
    most = shared;
    found = span;
  }
  return found;
}
