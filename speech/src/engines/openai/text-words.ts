export interface TextWord {
  /** With its punctuation, without whitespace. */
  text: string;
  /** Index of the first UTF-16 code unit in the whole text. */
  at: number;
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const PRONOUNCED = /[\p{L}\p{M}\p{N}\p{Sc}\p{Sm}&%@#§°]/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;
/** Musical notes, other symbols that are not pronounced, and control characters. */
const SYMBOLS = /(?!°)[\p{So}\p{Cc}]/gu;

/**
 * Splits a text into words at whitespace, and with `Intl.Segmenter` in scripts without spaces. Standalone punctuation
 * joins the previous word, or the next word if it is an opening mark. Pronounced signs (`&`, `€`) are words. Symbols
 * (`♪`) are dropped.
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

/** Returns whether the text contains a letter, a digit or a pronounced sign such as `&`. */
export function isPronounced(text: string): boolean {
  return PRONOUNCED.test(text);
}

/** Returns whether two texts belong to a script without spaces, so no space separates them. */
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
