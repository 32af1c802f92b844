import type { SpelledWord } from "./timed-words.ts";

/** Pronounced signs such as `&` are separate words. Other punctuation belongs to a neighboring word. */
const PUNCTUATION_ONLY = /^(?![&%@#*§])\p{P}+$/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;

/**
 * Attaches standalone punctuation to the previous word, or to the next word if it is an opening mark. Drops empty words,
 * and punctuation without a word.
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
      // An opening mark directly before a closing mark belongs to the previous word too.
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

/** Returns whether the text is only punctuation that is not pronounced. */
export function isPunctuationOnly(text: string): boolean {
  return PUNCTUATION_ONLY.test(text);
}

/** Returns whether the text is only punctuation that belongs to the next word. */
export function isOpeningOnly(text: string): boolean {
  return OPENING.test(text);
}
