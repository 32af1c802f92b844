/** A word as it is to be shown, and where it begins in the text. */
export interface WrittenWord {
  /** With its punctuation, without white space. */
  text: string;
  /** Index of its first character (UTF-16) in the text. */
  at: number;
}

/** Scripts whose words stand side by side. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SPOKEN = /[\p{L}\p{M}\p{N}\p{Sc}\p{Sm}&%@#§°]/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;
/** Notes of music and other pictures. */
const PICTURES = /[\p{So}\p{Cc}]/gu;

/**
 * The words of a text in order: what stands between white space, and in scripts without spaces the words of
 * `Intl.Segmenter`. Free-standing punctuation joins the word before it, opening marks the word after it;
 * spoken signs (`&`, `€`) are words of their own; pictures (`♪`) are none.
 * @param language ISO code; null where it is not known
 */
export function writtenWords(text: string, language: string | null): WrittenWord[] {
  const words: WrittenWord[] = [];
  let opening = "";
  let openingAt = 0;
  for (const part of textParts(text, language)) {
    const written = part.text.replace(PICTURES, "");
    const at = opening === "" ? part.at : openingAt;
    if (isSpoken(written)) {
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

/** Whether there is anything in it that is read aloud: a letter, a figure, a sign like `&`. */
export function isSpoken(text: string): boolean {
  return SPOKEN.test(text);
}

/** Whether two pieces of text belong together without a space: in scripts that have none. */
export function joinsWithoutSpace(left: string, right: string): boolean {
  return left === "" || (UNSPACED.test(left.slice(-1)) && UNSPACED.test(right.slice(0, 1)));
}

function* textParts(text: string, language: string | null): Generator<WrittenWord> {
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
