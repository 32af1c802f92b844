import { isPunctuationOnly } from "../../alignment/join-punctuation.ts";

/** A code point of a text and its position in the tokens. */
export interface TokenCharacter {
  text: string;
  /** The tokens `[firstToken, endToken)` contain its bytes. */
  firstToken: number;
  endToken: number;
  /** Fractional token positions. The range is empty for spaces and punctuation. */
  from: number;
  to: number;
}

interface Decoded {
  text: string;
  firstByte: number;
  endByte: number;
}

/**
 * Decodes tokens of a byte-level vocabulary. A character may span several tokens. Invalid UTF-8 is dropped.
 */
export function textOfTokens(
  tokens: readonly number[],
  tokenBytes: readonly (Uint8Array | null)[],
): TokenCharacter[] {
  const bytes: number[] = [];
  const tokenOfByte: number[] = [];
  for (const [index, token] of tokens.entries()) {
    for (const byte of tokenBytes[token] ?? []) {
      bytes.push(byte);
      tokenOfByte.push(index);
    }
  }
  const characters = decodeUtf8(Uint8Array.from(bytes));
  const positions = bytePositions(characters, tokenOfByte);
  return characters.map(({ text, firstByte, endByte }) => ({
    text,
    firstToken: tokenOfByte[firstByte]!,
    endToken: tokenOfByte[endByte - 1]! + 1,
    from: positions.starts[firstByte]!,
    to: positions.ends[endByte - 1]!,
  }));
}

/** Returns the fractional token positions of each byte. Pronounced characters share their token evenly. */
function bytePositions(characters: readonly Decoded[], tokenOfByte: readonly number[]) {
  const weights = new Float64Array(tokenOfByte.length);
  for (const { text, firstByte, endByte } of characters) {
    const isPronounced = text.trim() !== "" && !isPunctuationOnly(text);
    weights.fill(isPronounced ? 1 / (endByte - firstByte) : 0, firstByte, endByte);
  }
  const totals = new Map<number, number>();
  for (const [byte, token] of tokenOfByte.entries()) {
    totals.set(token, (totals.get(token) ?? 0) + weights[byte]!);
  }
  const starts: number[] = [];
  const ends: number[] = [];
  let done = 0;
  for (const [byte, token] of tokenOfByte.entries()) {
    if (tokenOfByte[byte - 1] !== token) done = 0;
    // In a token without pronounced characters, punctuation is at the start.
    const total = Math.max(totals.get(token)!, Number.MIN_VALUE);
    starts.push(token + Math.min(1, done / total));
    done += weights[byte]!;
    // The tolerance compensates for rounding errors in sums of thirds.
    ends.push(token + (done > total - 1e-9 && done > 0 ? 1 : done / total));
  }
  return { starts, ends };
}

function decodeUtf8(bytes: Uint8Array): Decoded[] {
  const characters: Decoded[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let byte = 0; byte < bytes.length; ) {
    const endByte = byte + encodedLength(bytes[byte]!);
    try {
      if (endByte > bytes.length) throw new RangeError("incomplete");
      characters.push({ text: decoder.decode(bytes.subarray(byte, endByte)), firstByte: byte, endByte });
      byte = endByte;
    } catch {
      byte++;
    }
  }
  return characters;
}

/** Returns the number of bytes of a character from its first byte (RFC 3629). */
function encodedLength(firstByte: number): number {
  if (firstByte < 0xc0) return 1;
  if (firstByte < 0xe0) return 2;
  return firstByte < 0xf0 ? 3 : 4;
}
