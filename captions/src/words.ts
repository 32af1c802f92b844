import { joinFragments, segmentUnspaced } from "./segment.ts";
import { repairTimes, type Span } from "./spans.ts";

export interface Word {
  /** The word with its punctuation: `"Hello,"`. */
  word: string;
  /** Seconds. */
  start: number;
  /** Seconds, ≥ `start`. */
  end: number;
  /** The engine's confidence, 0 … 1; omitted if unknown. */
  confidence?: number | undefined;
  /** Name of the speaker; omitted if unknown. */
  speaker?: string | undefined;
  /** Channel number, if each channel of the recording has one speaker. Captions and paragraphs do not mix channels. */
  channel?: number | undefined;
}

/** Whitespace between words. Non-breaking spaces are excluded, so `1 000` and `Bonjour !` are one word each. */
const BREAKING_SPACE = /[\t-\r\u0020\u0085\u1680\u2000-\u2006\u2008-\u200b\u2028\u2029\u205f\u3000]+/u;
/** Spaces inside French quotation marks and before `!`, `?`, `;` and `:`, which do not separate words. */
const INNER_SPACE = /(?<=\S)[\t ]+(?=[!?;:»](?:\s|$))|(?<=(?:^|\s)«)[\t ]+(?=\S)/gu;
/** Control characters, and format characters that are invisible or would change the direction of the text after them. */
const INVISIBLE = /[\p{Cc}\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const BLANK = /^[\p{Z}\p{Cf}]*$/u;
const OUTER_SPACE = /^[\p{Z}\u200c\u200d]+|(?<!\p{Z})\p{Z}+$/gu;

/**
 * Normalizes an engine's words without changing their order. Text becomes non-empty NFC without control characters.
 * Times become whole milliseconds within the media, without overlaps. Entries with several words are split and their
 * time is distributed; text in a script without spaces is split into dictionary words. Standalone punctuation is attached
 * to the neighboring word.
 *
 * @param durationSeconds length of the media; NaN means no limit
 */
export function normalizeWords(words: readonly Word[], durationSeconds: number): Word[] {
  const spans = joinFragments(words.flatMap(cleanSpans));
  const timed = repairTimes(spans, limitMilliseconds(durationSeconds));
  return segmentUnspaced(timed).map(({ text, start, end, confidence, speaker, channel }) => ({
    word: text,
    start: start / 1000,
    end: end / 1000,
    ...(confidence !== undefined && { confidence }),
    ...(speaker !== undefined && { speaker }),
    ...(channel !== undefined && { channel }),
  }));
}

function cleanSpans({ word, start, end, ...details }: Word): Span[] {
  const texts = word
    .toWellFormed()
    .replace(INNER_SPACE, "\u00a0")
    .split(BREAKING_SPACE)
    .map((part) => part.replace(INVISIBLE, "").normalize("NFC").replace(OUTER_SPACE, ""))
    .filter((part) => !BLANK.test(part));
  const totalLength = texts.reduce((sum, text) => sum + text.length, 0);
  let lengthBefore = 0;
  return texts.map((text) => {
    const from = lengthBefore / totalLength;
    lengthBefore += text.length;
    return {
      text,
      start: at(from),
      end: at(lengthBefore / totalLength),
      confidence: details.confidence,
      speaker: details.speaker,
      channel: details.channel,
    };
  });

  function at(fraction: number): number {
    // If only the start or only the end is NaN, the other time is used unchanged.
    const seconds = fraction === 0 ? start : fraction === 1 ? end : start + (end - start) * fraction;
    return seconds * 1000;
  }
}

function limitMilliseconds(durationSeconds: number): number {
  if (Number.isNaN(durationSeconds)) return Number.MAX_SAFE_INTEGER;
  const rounded = Math.min(Math.max(Math.round(durationSeconds * 1000), 0), Number.MAX_SAFE_INTEGER);
  return rounded / 1000 > durationSeconds ? Math.max(rounded - 1, 0) : rounded;
}
