/**
 * Byte-level byte pair encoding as in GPT-2: each byte has a printable character of its own. Bytes that are
 * printable in Latin-1 stand for themselves, the other 68 are U+0100, U+0101, … in order.
 */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = byteAlphabet();

function byteAlphabet(): Map<string, number> {
  const alphabet = new Map<string, number>();
  let others = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
    alphabet.set(String.fromCodePoint(printable ? byte : 0x100 + others++), byte);
  }
  return alphabet;
}

/** Returns the bytes of a vocabulary piece; a piece with other characters stands for itself. */
export function bytesOfPiece(piece: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of piece) {
    const byte = BYTE_OF_CHARACTER.get(character);
    if (byte === undefined) return new TextEncoder().encode(piece);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
