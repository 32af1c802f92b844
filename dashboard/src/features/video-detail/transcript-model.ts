import type { TranscriptWordsView } from "@subtext/server/admin/contract/video-detail";

/** Words that the engine was less sure of are marked. */
export const UNSURE_BELOW_PERCENT = 50;

/** A word stays lit so long after its end, unless the next begins. */
const AFTERGLOW_SECONDS = 0.1;

export interface Paragraph {
  text: string;
  /** Index of its first word in the transcript. */
  firstWord: number;
  /** Where each of its words begins and ends in the text, in UTF-16 units. */
  froms: Uint32Array;
  tos: Uint32Array;
  /** Seconds. */
  start: number;
}

export interface Transcript {
  language: string;
  wordCount: number;
  /** Seconds of the media, by word. */
  starts: Float64Array;
  ends: Float64Array;
  confidences: readonly (number | null)[] | null;
  paragraphs: Paragraph[];
}

export function readTranscript(view: TranscriptWordsView): Transcript {
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
    return readParagraph(words, { firstWord, start: starts[firstWord]! });
  });
  return { language: view.language, wordCount, starts, ends, confidences: view.confidences, paragraphs };
}

function readParagraph(words: string[], known: Pick<Paragraph, "firstWord" | "start">): Paragraph {
  const froms = new Uint32Array(words.length);
  const tos = new Uint32Array(words.length);
  let offset = 0;
  words.forEach((word, index) => {
    froms[index] = offset + (word.length - word.trimStart().length);
    offset += word.length;
    tos[index] = offset;
  });
  return { ...known, text: words.join(""), froms, tos };
}

/** The word that is heard at that time, for as long as it should be lit; -1 in pauses. */
export function wordAt({ starts, ends }: Transcript, seconds: number): number {
  const word = lastNotAfter(starts, seconds);
  return word >= 0 && seconds <= ends[word]! + AFTERGLOW_SECONDS ? word : -1;
}

/** The last word that has begun by then; -1 before the first. */
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

/** The word of the transcript that stands at, or just before, a place in a paragraph's text. */
export function wordAtOffset({ froms, firstWord }: Paragraph, offset: number): number {
  return firstWord + Math.max(0, lastNotAfter(froms, offset));
}

/** Index of the last value that is not above the limit; -1 where none is. */
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
