/** A word with its position in the text. */
export interface TextWord {
  /** With its punctuation, without white space. */
  text: string;
  /** Index of its first character (UTF-16) in the text. */
  at: number;
}

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const PRONOUNCED = /[\p{L}\p{M}\p{N}\p{Sc}\p{Sm}&%@#§°]/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;
/** Musical notes and other symbols. */
const SYMBOLS = /[\p{So}\p{Cc}]/gu;

/**
 * Splits a text into words at white space, and in scripts without spaces with `Intl.Segmenter`. Free-standing
 * punctuation joins the word before it, opening marks the word after it; pronounced signs (`&`, `€`) are
 * words; symbols (`♪`) are dropped.
 * @param language ISO code; null if unknown
 */
export function splitWords(text: string, language: string | null): TextWord[] {
  const words: TextWord[] = [];
  let opening = "";
  let openingAt = 0;
  for (const part of textParts(text, language)) {
    const written = part.text.replace(SYMBOLS, "");
    const at = opening === "" ? part.at : openingAt;
    if (isPronounced(written)) {
      words.push({ text: opening + written, at });
      opening = "";
    } else if (OPENING.test(written)) {
      opening += written;
      openingAt = at;
    } else {
      const previous = words.at(-1);
      if (previous !== undefined) previous.text += written;
    }
  }
  return words;
}

/** Returns whether any part of the text is pronounced: a letter, a digit, a sign such as `&`. */
export function isPronounced(text: string): boolean {
  return PRONOUNCED.test(text);
}

/** Returns whether two texts are joined without a space, as in scripts that have none. */
export function joinsWithoutSpace(left: string, right: string): boolean {
  return left === "" || (UNSPACED.test(left.slice(-1)) && UNSPACED.test(right.slice(0, 1)));
}

function* textParts(text: string, language: string | null): Generator<TextWord> {
  let segmenter: Intl.Segmenter | undefined;
  for (const { 0: part, index } of text.matchAll(/\S+/gu)) {
    if (!UNSPACED.test(part)) {
      yield { text: part, at: index };
      continue;
    }
    segmenter ??= new Intl.Segmenter(language ?? "und", { granularity: "word" });
    for (const piece of segmenter.segment(part)) yield { text: piece.segment, at: index + piece.index };
  }
}
