import { joinPunctuation } from "../../alignment/join-punctuation.ts";
import type { SpelledWord } from "../../alignment/timed-words.ts";

const WORD_START = "▁";
const BYTE_PIECE = /^<0x([0-9A-F]{2})>$/;
const CONTROL_PIECE = /^<.*>$/;

/**
 * Splits SentencePiece text into words. A piece that starts with `▁` starts a word. Pieces such as `<0xE2>` are UTF-8
 * bytes.
 * @param pieces one for each token
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
