import { deflateSync } from "node:zlib";

/** Text with a higher compression ratio counts as a failed decoding: the limit of the Whisper paper (section 4.5). */
export const MAX_COMPRESSION_RATIO = 2.4;

/** One byte per symbol; rarer characters of a large script take two. */
const ESCAPE = 255;

/**
 * How much a text repeats itself: its length in characters ÷ its length after compression (zlib). Ordinary prose
 * has 1 to 1.6 in every script.
 *
 * The published decoder compares bytes of UTF-8. Most Indic and Southeast Asian scripts take three bytes for each
 * character, two of them nearly always the same, so their ordinary prose exceeds the limit of 2.4.
 * @returns 1 for an empty text.
 */
export function compressionRatio(text: string): number {
  if (text === "") return 1;
  const symbols = new Map<string, number>();
  const bytes: number[] = [];
  let characters = 0;
  for (const character of text) {
    characters += 1;
    const symbol = symbols.get(character) ?? symbols.size;
    symbols.set(character, symbol);
    if (symbol < ESCAPE) bytes.push(symbol);
    else bytes.push(ESCAPE, symbol % ESCAPE);
  }
  return characters / deflateSync(Uint8Array.from(bytes)).length;
}
