import { isPunctuationOnly } from "../../alignment/join-punctuation.ts";

/** One character (code point) of a text, and where it lies among the tokens that spell it. */
export interface TokenCharacter {
  text: string;
  /** First token that holds some of its bytes, and the one after the last. */
  firstToken: number;
  endToken: number;
  /** The part of the tokens that it takes, as places among the tokens; blanks and marks take none. */
  from: number;
  to: number;
}

interface Decoded {
  text: string;
  firstByte: number;
  endByte: number;
}

/**
 * The characters that tokens of a byte-level vocabulary spell. A character may lie in several tokens, and
 * bytes that are no UTF-8 spell nothing, whatever tokens a model may choose.
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
  const clock = byteClock(characters, places);
  return characters.map(({ text, firstByte, endByte }) => ({
    text,
    firstToken: places[firstByte]!,
    endToken: places[endByte - 1]! + 1,
    from: clock.starts[firstByte]!,
    to: clock.ends[endByte - 1]!,
  }));
}

/** Where each byte begins and ends among the tokens: characters that are heard share their token evenly. */
function byteClock(characters: readonly Decoded[], places: readonly number[]) {
  const weights = new Float64Array(places.length);
  for (const { text, firstByte, endByte } of characters) {
    const isHeard = text.trim() !== "" && !isPunctuationOnly(text);
    weights.fill(isHeard ? 1 / (endByte - firstByte) : 0, firstByte, endByte);
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
    // Where nothing of a token is heard, its marks lie at its beginning, beside what came before.
    const total = Math.max(totals.get(place)!, Number.MIN_VALUE);
    starts.push(place + Math.min(1, done / total));
    done += weights[byte]!;
    // Thirds of a character add up to a little more or less than one.
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

/** Bytes of the character that begins so (RFC 3629). */
function encodedLength(firstByte: number): number {
  if (firstByte < 0xc0) return 1;
  if (firstByte < 0xe0) return 2;
  return firstByte < 0xf0 ? 3 : 4;
}
