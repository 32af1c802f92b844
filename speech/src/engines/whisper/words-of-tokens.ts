import { isOpeningOnly, isPunctuationOnly, joinPunctuation } from "../../alignment/join-punctuation.ts";
import type { SpelledWord } from "../../alignment/spelled-word.ts";
import { type TokenCharacter, textOfTokens } from "./text-of-tokens.ts";

/** Scripts without spaces between words, with the punctuation and full-width forms of East Asia. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3001-\u303f\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6]/u;

/**
 * Words that the tokens of a Whisper text spell: what stands between blanks, or, in scripts that have
 * none, what `Intl.Segmenter` takes for words. Punctuation is joined as `joinPunctuation` does.
 *
 * Words come in order. Two may share a token, of which `spoken` tells each one's part; every token that
 * spells more than blanks and marks without a word is in some word's span.
 * @param tokens Tokens chosen; special tokens and timestamps spell nothing.
 * @param tokenBytes Bytes of UTF-8 that each token stands for, null for special ones.
 * @param language ISO code; null where it is not known. Picks the dictionary of words.
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
    chunk.some(({ text }) => UNSPACED.test(text)) ? cutUnspaced(chunk, segmenter) : [chunk],
  );
  return joinPunctuation(pieces.map(spelledWord)).map(withoutWhole);
}

/** Closing marks stay with the word before, opening ones with that after; other scripts inside stay whole. */
function cutUnspaced(chunk: readonly TokenCharacter[], segmenter: Intl.Segmenter): TokenCharacter[][] {
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
  const heard = characters.filter(({ text }) => !isPunctuationOnly(text));
  const [first, last] = heard.length > 0 ? [heard[0], heard.at(-1)] : [characters[0], characters.at(-1)];
  return {
    text: textOf(characters),
    firstToken: characters[0]!.firstToken,
    endToken: characters.at(-1)!.endToken,
    spoken: { from: first!.from, to: last!.to },
  };
}

function withoutWhole({ spoken, ...word }: SpelledWord): SpelledWord {
  const isWhole = spoken?.from === word.firstToken && spoken.to === word.endToken;
  return isWhole || !spoken ? word : { ...word, spoken };
}

function textOf(characters: readonly TokenCharacter[]): string {
  return characters.map(({ text }) => text).join("");
}
