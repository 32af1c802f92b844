import type { TimedWord } from "../transcript.ts";
import { MIN_WORD_SECONDS } from "./timed-words.ts";

/** A part of the media that contains speech, in seconds. */
export interface SpeechSpan {
  start: number;
  end: number;
}

/** Shorter gaps may be stop consonants. */
const MIN_PAUSE_SECONDS = 0.2;
/** Voice activity detection reports the start and the end of speech up to about one window late. */
const DETECTION_DELAY_SECONDS = 0.03;
/** A gap of at most this length between a word and the edge of its speech span is closed. */
const MAX_EDGE_GAP_SECONDS = 0.25;
/** Maximum duration: a constant plus a time per character. A longer word has absorbed speech that the engine omitted. */
const MAX_WORD_SECONDS = 2;
const MAX_CHARACTER_SECONDS = 0.1;

/**
 * Corrects the times of words next to pauses, where aligners are inaccurate. Each word is limited to the speech span that
 * it overlaps most. The first and the last word of a span extend to its edges if these are near. A word inside a pause is
 * not moved. An implausibly long word is cut at the start if it is the first of several in its span, else at the end.
 * @param words in order, not overlapping
 * @param speech in order
 */
export function fitToPauses(words: readonly TimedWord[], speech: readonly SpeechSpan[]): TimedWord[] {
  const spans = betweenPauses(speech);
  const spanOfWord = words.map((word) => mostOverlapping(spans, word));
  const fitted: TimedWord[] = [];
  for (const [index, word] of words.entries()) {
    const span = spanOfWord[index];
    if (span === undefined) {
      fitted.push(shortened(word, "start"));
      continue;
    }
    let start = Math.max(word.start, span.start - DETECTION_DELAY_SECONDS);
    let end = Math.min(word.end, span.end);
    const isFirst = spanOfWord[index - 1] !== span;
    const isLast = spanOfWord[index + 1] !== span;
    if (isFirst && start - span.start <= MAX_EDGE_GAP_SECONDS) start = Math.min(start, span.start);
    if (isLast && span.end - end <= MAX_EDGE_GAP_SECONDS)
      end = Math.max(end, span.end - DETECTION_DELAY_SECONDS);
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
  const longest = MAX_WORD_SECONDS + MAX_CHARACTER_SECONDS * [...word.word].length;
  if (word.end - word.start <= longest) return word;
  return kept === "end" ? { ...word, start: word.end - longest } : { ...word, end: word.start + longest };
}

/**
 * Removes overlaps between words that were aligned separately, and limits them to the media. Each word lasts at least
 * `MIN_WORD_SECONDS`, or less if the media is too short. Times are rounded to milliseconds.
 */
export function removeOverlaps(words: readonly TimedWord[], duration: number): TimedWord[] {
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
