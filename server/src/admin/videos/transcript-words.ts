import { endsSentence } from "@subtext/captions/punctuation";
import { needsSpace } from "@subtext/captions/script";
import { beginsParagraph } from "@subtext/captions/text";
import type { TranscriptWordsView } from "../contract/video-detail.ts";

/** A word in the transcript's JSON file. */
interface FileWord {
  word: string;
  /** Seconds, 3 decimals. */
  start: number;
  end: number;
}

/** Numbers of words after which a paragraph ends at the next sentence end, the next pause, or immediately. */
const MIN_WORDS_BEFORE_SENTENCE_BREAK = 60;
const MIN_WORDS_BEFORE_PAUSE_BREAK = 120;
const MAX_PARAGRAPH_WORDS = 200;
const PAUSE_SECONDS = 0.3;

/**
 * Arranges the words in columns and splits them into paragraphs. Paragraphs break where the plain text does. Very long
 * ones are split further, because the page renders paragraphs one by one.
 * @param confidences 0 … 1, one for each word
 */
export function transcriptWords(
  words: readonly FileWord[],
  { language, confidences }: { language: string; confidences: readonly (number | null)[] | null },
): TranscriptWordsView {
  const view: TranscriptWordsView = {
    language,
    words: [],
    pauses: [],
    durations: [],
    confidences: confidences?.map((value) => (value === null ? null : Math.round(value * 100))) ?? null,
    paragraphs: [],
  };
  let previous: FileWord | undefined;
  let paragraphStart = 0;
  for (const [index, next] of words.entries()) {
    const startsParagraph =
      !previous || beginsParagraph(previous, next) || isLongEnough(index - paragraphStart, previous, next);
    if (startsParagraph) {
      view.paragraphs.push(index);
      paragraphStart = index;
    }
    const spaced = !startsParagraph && previous && needsSpace(previous.word, next.word);
    view.words.push(spaced ? ` ${next.word}` : next.word);
    view.pauses.push(milliseconds(next.start) - milliseconds(previous?.end ?? 0));
    view.durations.push(milliseconds(next.end) - milliseconds(next.start));
    previous = next;
  }
  return view;
}

function isLongEnough(length: number, previous: FileWord, next: FileWord): boolean {
  if (length < MIN_WORDS_BEFORE_SENTENCE_BREAK) return false;
  if (endsSentence(previous.word) || length >= MAX_PARAGRAPH_WORDS) return true;
  return length >= MIN_WORDS_BEFORE_PAUSE_BREAK && next.start - previous.end >= PAUSE_SECONDS;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
