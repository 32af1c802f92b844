import type { Hearing } from "./engine.ts";
import { compressionRatio } from "./repetition.ts";

/**
 * The recognition result of an utterance from the results of its consecutive parts, with their own statistics.
 * @param parts At least one, in order. Their mean log probabilities count by their words.
 */
export function combineHearings(parts: readonly Hearing[]): Hearing {
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
    cutOff: parts.some(({ cutOff }) => cutOff),
  };
}
