import { joinPunctuation } from "./join-punctuation.ts";

/** A word of decoded text and the tokens that spell it: `[firstToken, endToken)`, never empty. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
  /**
   * The part of these tokens that is heard, where it is not all of them, as places among the tokens: from
   * 3.5 to 5 is the second half of token 3 and all of token 4. Marks at a word's ends are not heard; where
   * a token spells the end of one word and the beginning of the next, each takes its share of the token's
   * time, so that of two words in order `to` is never after the next one's `from`.
   */
  spoken?: { from: number; to: number };
}

const WORD_START = "▁";
const BYTE_PIECE = /^<0x([0-9A-F]{2})>$/;
const CONTROL_PIECE = /^<.*>$/;

/**
 * Words of a SentencePiece text. A piece that starts with `▁` starts a word; pieces like `<0xE2>` are
 * bytes of UTF-8; free-standing punctuation joins the word before it, opening marks the word after it.
 * @param pieces The piece of each token, in order.
 */
export function spelledWords(pieces: readonly string[]): SpelledWord[] {
  const spans: { firstToken: number; endToken: number }[] = [];
  for (const [token, piece] of pieces.entries()) {
    const last = spans.at(-1);
    if (last && !piece.startsWith(WORD_START)) last.endToken = token + 1;
    else spans.push({ firstToken: token, endToken: token + 1 });
  }
  return joinPunctuation(
    spans.map((span) => ({ text: spell(pieces.slice(span.firstToken, span.endToken)), ...span })),
  );
}

function spell(pieces: readonly string[]): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const piece of pieces) {
    const byte = BYTE_PIECE.exec(piece)?.[1];
    if (byte !== undefined) bytes.push(Number.parseInt(byte, 16));
    else if (!CONTROL_PIECE.test(piece)) bytes.push(...encoder.encode(piece.replaceAll(WORD_START, " ")));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes)).trim();
}
