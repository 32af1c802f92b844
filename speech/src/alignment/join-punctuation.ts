import type { SpelledWord } from "./timed-words.ts";

/** Signs that are pronounced are words of their own; other punctuation belongs to a neighboring word. */
const PUNCTUATION_ONLY = /^(?![&%@#*§])\p{P}+$/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;

/**
 * Attaches free-standing punctuation to the word before it and opening marks to the word after it. Drops
 * blanks, and marks without any word.
 */
export function joinPunctuation(spelled: readonly SpelledWord[]): SpelledWord[] {
  const words: SpelledWord[] = [];
  let opening: SpelledWord | undefined;
  for (const word of spelled) {
    const previous = words.at(-1);
    if (isOpeningOnly(word.text)) {
      opening = {
        ...word,
        text: (opening?.text ?? "") + word.text,
        firstToken: (opening ?? word).firstToken,
      };
    } else if (isPunctuationOnly(word.text)) {
      if (!previous) continue;
      // An opening mark before a closing one has no word after it to belong to.
      previous.text += (opening?.text ?? "") + word.text;
      previous.endToken = word.endToken;
      opening = undefined;
    } else if (word.text !== "") {
      words.push({
        ...word,
        text: (opening?.text ?? "") + word.text,
        firstToken: (opening ?? word).firstToken,
      });
      opening = undefined;
    }
  }
  return words;
}

/** Returns whether the text consists only of marks that are not pronounced. */
export function isPunctuationOnly(text: string): boolean {
  return PUNCTUATION_ONLY.test(text);
}

/** Returns whether the text consists only of marks that belong to the word after them. */
export function isOpeningOnly(text: string): boolean {
  return OPENING.test(text);
}
