import { isPunctuationOnly } from "../../alignment/join-punctuation.ts";

/** One character (code point) of a text and its position among the tokens. */
export interface TokenCharacter {
  text: string;
  /** First token with some of its bytes, and the one after the last. */
  firstToken: number;
  endToken: number;
  /** Fractional token positions of its pronounced part; blanks and punctuation have none. */
  from: number;
  to: number;
}

interface Decoded {
  text: string;
  firstByte: number;
  endByte: number;
}

/**
 * Decodes tokens of a byte-level vocabulary. A character may span several tokens; bytes that are not valid
 * UTF-8 are dropped.
 */
export function textOfTokens(
  tokens: readonly number[],
  tokenBytes: readonly (Uint8Array | null)[],
): TokenCharacter[] {
  const bytes: number[] = [];
  const places: number[] = [];
  for (const [place, token] of tokens.entries()) {
    for (const byte of tokenBytes[token] ?? []) {
      bytes.push(byte);
      places.push(place);
    }
  }
  const characters = decodeUtf8(Uint8Array.from(bytes));
  const positions = bytePositions(characters, places);
  return characters.map(({ text, firstByte, endByte }) => ({
    text,
    firstToken: places[firstByte]!,
    endToken: places[endByte - 1]! + 1,
    from: positions.starts[firstByte]!,
    to: positions.ends[endByte - 1]!,
  }));
}

/** Fractional token positions of each byte: pronounced characters share their token evenly. */
function bytePositions(characters: readonly Decoded[], places: readonly number[]) {
  const weights = new Float64Array(places.length);
  for (const { text, firstByte, endByte } of characters) {
    const isPronounced = text.trim() !== "" && !isPunctuationOnly(text);
    weights.fill(isPronounced ? 1 / (endByte - firstByte) : 0, firstByte, endByte);
  }
  const totals = new Map<number, number>();
  for (const [byte, place] of places.entries()) {
    totals.set(place, (totals.get(place) ?? 0) + weights[byte]!);
  }
  const starts: number[] = [];
  const ends: number[] = [];
  let done = 0;
  for (const [byte, place] of places.entries()) {
    if (places[byte - 1] !== place) done = 0;
    // Without pronounced characters, punctuation is at the start of its token, next to what came before.
    const total = Math.max(totals.get(place)!, Number.MIN_VALUE);
    starts.push(place + Math.min(1, done / total));
    done += weights[byte]!;
    // Sums of thirds are slightly more or less than one.
    ends.push(place + (done > total - 1e-9 && done > 0 ? 1 : done / total));
  }
  return { starts, ends };
}

function decodeUtf8(bytes: Uint8Array): Decoded[] {
  const characters: Decoded[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let byte = 0; byte < bytes.length; ) {
    const endByte = byte + encodedLength(bytes[byte]!);
    try {
      if (endByte > bytes.length) throw new RangeError("cut off");
      characters.push({ text: decoder.decode(bytes.subarray(byte, endByte)), firstByte: byte, endByte });
      byte = endByte;
    } catch {
      byte++;
    }
  }
  return characters;
}

/** Number of bytes of the character that starts with this byte (RFC 3629). */
function encodedLength(firstByte: number): number {
  if (firstByte < 0xc0) return 1;
  if (firstByte < 0xe0) return 2;
  return firstByte < 0xf0 ? 3 : 4;
}
