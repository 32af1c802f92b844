import type { TranscriptWordsView } from "@subtext/server/admin/contract/video-detail";
import { formatClock } from "../../../ui/format.ts";
import { formatRange, speakerLabel } from "../texts.ts";

/** Words below this confidence are highlighted. */
export const LOW_CONFIDENCE_PERCENT = 50;

/** A word stays highlighted this long after its end, unless the next word starts. */
const LINGER_SECONDS = 0.1;

export interface Paragraph {
  text: string;
  /** Index of the paragraph's first word in the transcript. */
  firstWord: number;
  /** Offsets of the words in the text, in UTF-16 code units. */
  wordStarts: Uint32Array;
  wordEnds: Uint32Array;
  /** In seconds. */
  start: number;
  /** Name of the speaker, or the channel if nobody has named its speaker; otherwise null. */
  speaker: string | null;
}

export interface Transcript {
  language: string;
  wordCount: number;
  /** Times of the words in seconds. */
  starts: Float64Array;
  ends: Float64Array;
  confidences: readonly (number | null)[] | null;
  paragraphs: Paragraph[];
  /** Whether somebody has named a speaker. */
  hasSpeakers: boolean;
}

export function parseTranscript(view: TranscriptWordsView): Transcript {
  const wordCount = view.words.length;
  const starts = new Float64Array(wordCount);
  const ends = new Float64Array(wordCount);
  let milliseconds = 0;
  for (let word = 0; word < wordCount; word++) {
    milliseconds += view.pauses[word]!;
    starts[word] = milliseconds / 1000;
    milliseconds += view.durations[word]!;
    ends[word] = milliseconds / 1000;
  }
  const paragraphs = view.paragraphs.map((firstWord, index) => {
    const words = view.words.slice(firstWord, view.paragraphs[index + 1] ?? wordCount);
    return parseParagraph(words, {
      firstWord,
      start: starts[firstWord]!,
      speaker: speakerLabel(view.speakers?.[index] ?? null, view.channels?.[index] ?? null),
    });
  });
  const { language, confidences } = view;
  const hasSpeakers = view.speakers !== null;
  return { language, wordCount, starts, ends, confidences, paragraphs, hasSpeakers };
}

function parseParagraph(
  words: string[],
  position: Pick<Paragraph, "firstWord" | "start" | "speaker">,
): Paragraph {
  const wordStarts = new Uint32Array(words.length);
  const wordEnds = new Uint32Array(words.length);
  let offset = 0;
  words.forEach((word, index) => {
    wordStarts[index] = offset + (word.length - word.trimStart().length);
    offset += word.length;
    wordEnds[index] = offset;
  });
  return { ...position, text: words.join(""), wordStarts, wordEnds };
}

/** Returns the index of the word to highlight at a time; -1 in pauses. */
export function wordAt({ starts, ends }: Transcript, seconds: number): number {
  const word = lastNotAfter(starts, seconds);
  return word >= 0 && seconds <= ends[word]! + LINGER_SECONDS ? word : -1;
}

/** Returns the index of the last word that started before or at a time; -1 before the first word. */
export function wordBefore({ starts }: Transcript, seconds: number): number {
  return lastNotAfter(starts, seconds);
}

export function paragraphOf({ paragraphs }: Transcript, word: number): number {
  let low = 0;
  let high = paragraphs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (paragraphs[middle]!.firstWord <= word) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the index of the word at or directly before an offset in the paragraph's text. */
export function wordAtOffset({ wordStarts, firstWord }: Paragraph, offset: number): number {
  return firstWord + Math.max(0, lastNotAfter(wordStarts, offset));
}

export function plainText({ paragraphs }: Transcript): string {
  return paragraphs.map((paragraph, index) => speakerPrefix(paragraphs, index) + paragraph.text).join("\n\n");
}

export function textWithTimestamps({ paragraphs }: Transcript): string {
  return paragraphs
    .map(({ text, start }, index) => `[${formatClock(start)}] ${speakerPrefix(paragraphs, index)}${text}`)
    .join("\n\n");
}

/** Returns the name of the speaker if another one spoke before, e.g. `Ada: `. */
function speakerPrefix(paragraphs: readonly Paragraph[], index: number): string {
  const { speaker } = paragraphs[index]!;
  return speaker !== null && speaker !== paragraphs[index - 1]?.speaker ? `${speaker}: ` : "";
}

/** Returns the text from the first to the last word, with its time range. */
export function quote(transcript: Transcript, { first, last }: { first: number; last: number }): string {
  const { paragraphs, starts, ends } = transcript;
  const [from, to] = [paragraphOf(transcript, first), paragraphOf(transcript, last)];
  const texts = paragraphs.slice(from, to + 1).map(({ text, firstWord, wordStarts, wordEnds }, index) => {
    const begin = index === 0 ? wordStarts[first - firstWord]! : 0;
    const end = from + index === to ? wordEnds[last - firstWord]! : text.length;
    return text.slice(begin, end);
  });
  return `[${formatRange(starts[first]!, ends[last]!)}] ${texts.join("\n\n")}`;
}

/** Returns the index of the last value ≤ the limit; -1 if there is none. */
function lastNotAfter(ascending: Float64Array | Uint32Array, limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
