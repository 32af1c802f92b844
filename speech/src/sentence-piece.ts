/** A word of decoded text and the tokens that spell it: `[firstToken, endToken)`. */
export interface SpelledWord {
  text: string;
  firstToken: number;
  endToken: number;
}

const WORD_START = "▁";
const BYTE_PIECE = /^<0x([0-9A-F]{2})>$/;
const CONTROL_PIECE = /^<.*>$/;

/** Spoken signs stand as words of their own; other punctuation belongs to a word beside it. */
const PUNCTUATION_ONLY = /^(?![&%@#*§])\p{P}+$/u;
const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;

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
  const words: SpelledWord[] = [];
  let openingText = "";
  let openingToken = 0;
  for (const { firstToken, endToken } of spans) {
    const text = spell(pieces.slice(firstToken, endToken));
    const previous = words.at(-1);
    if (OPENING.test(text)) {
      if (openingText === "") openingToken = firstToken;
      openingText += text;
    } else if (PUNCTUATION_ONLY.test(text)) {
      if (!previous) continue;
      previous.text += text;
      previous.endToken = endToken;
    } else if (text !== "") {
      words.push({
        text: openingText + text,
        firstToken: openingText === "" ? firstToken : openingToken,
        endToken,
      });
      openingText = "";
    }
  }
  return words;
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
