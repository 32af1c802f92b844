import { isOpeningOnly, isPunctuationOnly, joinPunctuation } from "../../alignment/join-punctuation.ts";
import type { SpelledWord } from "../../alignment/timed-words.ts";
import { type TokenCharacter, textOfTokens } from "./text-of-tokens.ts";

/** Scripts without spaces between words, with East Asian punctuation and full-width forms. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3001-\u303f\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6]/u;

/**
 * Splits decoded tokens into words at spaces, and with `Intl.Segmenter` in scripts without spaces. Two words may share a
 * token; `spoken` is then the part of each.
 * @param tokenBytes UTF-8 bytes of each token; null for special tokens
 * @param language ISO code, which selects the dictionary; null if unknown
 */
export function wordsOfTokens(
  tokens: readonly number[],
  tokenBytes: readonly (Uint8Array | null)[],
  language: string | null,
): SpelledWord[] {
  const chunks: TokenCharacter[][] = [];
  let isBetween = true;
  for (const character of textOfTokens(tokens, tokenBytes)) {
    const isBlank = character.text.trim() === "";
    if (!isBlank && isBetween) chunks.push([]);
    if (!isBlank) chunks.at(-1)?.push(character);
    isBetween = isBlank;
  }
  const segmenter = new Intl.Segmenter(language ?? "und", { granularity: "word" });
  const pieces = chunks.flatMap((chunk) =>
    chunk.some(({ text }) => UNSPACED.test(text)) ? splitUnspaced(chunk, segmenter) : [chunk],
  );
  return joinPunctuation(pieces.map(spelledWord)).map(omitWholeRange);
}

/** Closing punctuation belongs to the previous word, opening punctuation to the next. Other scripts are not split. */
function splitUnspaced(chunk: readonly TokenCharacter[], segmenter: Intl.Segmenter): TokenCharacter[][] {
  const words: TokenCharacter[][] = [];
  let word: TokenCharacter[] = [];
  let next = 0;
  for (const { segment, isWordLike } of segmenter.segment(textOf(chunk))) {
    const characters = chunk.slice(next, next + [...segment].length);
    next += characters.length;
    const last = word.at(-1)?.text ?? "";
    const ended = word.length > 0 && !isPunctuationOnly(textOf(word)) && !isOpeningOnly(last);
    const begins = isWordLike || isOpeningOnly(segment);
    if (ended && begins && (UNSPACED.test(last) || UNSPACED.test(characters[0]?.text ?? ""))) {
      words.push(word);
      word = [];
    }
    word.push(...characters);
  }
  words.push(word);
  return words;
}

function spelledWord(characters: readonly TokenCharacter[]): SpelledWord {
  const pronounced = characters.filter(({ text }) => !isPunctuationOnly(text));
  const [first, last] =
    pronounced.length > 0 ? [pronounced[0], pronounced.at(-1)] : [characters[0], characters.at(-1)];
  return {
    text: textOf(characters),
    firstToken: characters[0]!.firstToken,
    endToken: characters.at(-1)!.endToken,
    spoken: { from: first!.from, to: last!.to },
  };
}

function omitWholeRange({ spoken, ...word }: SpelledWord): SpelledWord {
  const isWhole = spoken?.from === word.firstToken && spoken.to === word.endToken;
  return isWhole || !spoken ? word : { ...word, spoken };
}

function textOf(characters: readonly TokenCharacter[]): string {
  return characters.map(({ text }) => text).join("");
}
