import type { SpelledWord } from "./spelled-word.ts";

/** Spoken signs stand as words of their own; other punctuation belongs to a word beside it. */
const PUNCTUATION_ONLY = /^(?![&%@#*§])\p{P}+$/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;

/**
 * Gives punctuation that stands free to the word before it, and opening marks to the word after it. Marks
 * without any word are left out, and so are blanks.
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
      previous.text += word.text;
      previous.endToken = word.endToken;
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

/** Marks that nobody speaks, and nothing else. */
export function isPunctuationOnly(text: string): boolean {
  return PUNCTUATION_ONLY.test(text);
}

/** Marks that belong to the word after them, and nothing else. */
export function isOpeningOnly(text: string): boolean {
  return OPENING.test(text);
}
