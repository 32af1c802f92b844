import type { SpelledWord } from "../../sentence-piece.ts";

/**
 * Words that the tokens of a Whisper text spell.
 * @param tokens Tokens chosen; special tokens and timestamps spell nothing.
 * @param tokenBytes What each token stands for.
 * @param language ISO code; null where it is not known.
 */
export function wordsOfTokens(
  _tokens: readonly number[],
  _tokenBytes: readonly (Uint8Array | null)[],
  _language: string | null,
): SpelledWord[] {
  return [];
}
