import { deflateSync } from "node:zlib";
import type { RecognitionResult } from "./engine.ts";

/** Text with a higher compression ratio counts as a failed decoding. The limit is from the Whisper paper (section 4.5). */
export const MAX_COMPRESSION_RATIO = 2.4;

/** In a large script, characters after the first 255 take two bytes, of which this is the first. */
const ESCAPE = 255;

/**
 * Measures how repetitive a text is: its length in characters ÷ its compressed length in bytes (zlib). Ordinary prose has
 * 1 to 1.6 in every script.
 *
 * OpenAI's decoder compresses UTF-8 instead. In most Indic and Southeast Asian scripts, two of the three bytes of each
 * character are nearly always the same, so ordinary prose would exceed the limit of 2.4.
 * @returns 1 for an empty text
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

/**
 * Combines the results of consecutive parts of an utterance into one.
 * @param parts at least one, in order
 */
export function combineResults(parts: readonly RecognitionResult[]): RecognitionResult {
  const [first, ...rest] = parts;
  if (first === undefined) throw new RangeError("There are no parts to combine.");
  if (rest.length === 0) return first;
  const words = parts.flatMap((part) => part.words);
  const weighted = parts.map((part) => ({ ...part, weight: Math.max(1, part.words.length) }));
  const weights = weighted.reduce((sum, { weight }) => sum + weight, 0);
  const noSpeech = parts.flatMap(({ noSpeechProbability }) => noSpeechProbability ?? []);
  return {
    words,
    language: first.language,
    meanLogProbability:
      weighted.reduce((sum, { meanLogProbability, weight }) => sum + meanLogProbability * weight, 0) /
      weights,
    compressionRatio: compressionRatio(words.map(({ word }) => word).join(" ")),
    noSpeechProbability: noSpeech.length === 0 ? null : Math.min(...noSpeech),
    truncated: parts.some(({ truncated }) => truncated),
    ...(parts.some(({ hasEstimatedTimes }) => hasEstimatedTimes) && { hasEstimatedTimes: true }),
  };
}
