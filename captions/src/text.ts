import { endsSentence } from "./punctuation.ts";
import { isUnspaced, joinWords, lastCharacter } from "./script.ts";
import type { Word } from "./words.ts";

/** After the end of a sentence, a pause of this length starts a new paragraph. */
const PAUSE_AFTER_SENTENCE_SECONDS = 2;
/** A pause of this length starts a new paragraph anywhere. */
const LONG_PAUSE_SECONDS = 5;

/** Numbers of words after which a paragraph ends at the next sentence end, the next pause, or immediately. */
const MIN_WORDS_BEFORE_SENTENCE_BREAK = 60;
const MIN_WORDS_BEFORE_PAUSE_BREAK = 120;
const MAX_PARAGRAPH_WORDS = 200;
const SHORT_PAUSE_SECONDS = 0.3;

/** Renders one line per paragraph, separated by blank lines. Returns an empty string if there are no words. */
export function renderText(words: readonly Word[]): string {
  const paragraphs: Word[][] = [];
  let previous: Word | undefined;
  for (const word of words) {
    if (previous && !beginsParagraph(previous, word)) paragraphs.at(-1)!.push(word);
    else paragraphs.push([word]);
    previous = word;
  }
  return paragraphs.length === 0 ? "" : `${paragraphs.map(joinWords).join("\n\n")}\n`;
}

/** Returns whether `next` begins a paragraph, because of a pause or because it is in another channel. */
export function beginsParagraph(
  previous: Pick<Word, "word" | "start" | "end"> & { channel?: number | null | undefined },
  next: Pick<Word, "word" | "start" | "end"> & { channel?: number | null | undefined },
): boolean {
  if (previous.channel !== next.channel) return true;
  const pause = next.start - previous.end;
  // Scripts without spaces often have no punctuation, so any word may end a sentence.
  const mayEnd = endsSentence(previous.word) || isUnspaced(lastCharacter(previous.word));
  return pause >= (mayEnd ? PAUSE_AFTER_SENTENCE_SECONDS : LONG_PAUSE_SECONDS);
}

/** Returns whether a displayed paragraph is so long that it should end here, even if `beginsParagraph` is false. */
export function isLongParagraph(
  wordCount: number,
  previous: Pick<Word, "word" | "start" | "end">,
  next: Pick<Word, "word" | "start" | "end">,
): boolean {
  if (wordCount < MIN_WORDS_BEFORE_SENTENCE_BREAK) return false;
  if (endsSentence(previous.word) || wordCount >= MAX_PARAGRAPH_WORDS) return true;
  return wordCount >= MIN_WORDS_BEFORE_PAUSE_BREAK && next.start - previous.end >= SHORT_PAUSE_SECONDS;
}
