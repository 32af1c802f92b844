import { endsSentence } from "./punctuation.ts";
import { isUnspaced, joinWords, lastCharacter } from "./script.ts";
import type { Word } from "./words.ts";

/** A pause after a sentence that starts a new paragraph, seconds. */
const PARAGRAPH_PAUSE = 2;
/** A pause that starts a new paragraph even within a sentence, seconds. */
const BREAK_PAUSE = 5;

/**
 * Renders plain text: one line per paragraph, separated by blank lines. Returns an empty string if there are no words.
 */
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

/** Returns whether a new paragraph starts between these two words. */
export function beginsParagraph(previous: Word, next: Word): boolean {
  const pause = next.start - previous.end;
  // Thai, Lao, Khmer and unpunctuated text in a script without spaces do not mark the end of a sentence, so only the
  // pause counts.
  const mayEnd = endsSentence(previous.word) || isUnspaced(lastCharacter(previous.word));
  return pause >= (mayEnd ? PARAGRAPH_PAUSE : BREAK_PAUSE);
}
