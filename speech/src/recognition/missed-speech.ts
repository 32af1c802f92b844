import { fitToPauses } from "../alignment/fit-words.ts";
import type { TimedWord } from "../transcript.ts";
import { cutOut, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/** Shorter spans may be coughs that were detected as speech. */
const MIN_SPEECH_SECONDS = 0.6;

/**
 * Hardly anyone speaks more slowly. If a span has fewer words, they probably belong to another span, and the sentence
 * spoken in this one is missing.
 */
const MIN_WORDS_PER_SECOND = 1;
/** A span with a single long word may be this long. */
const SLOW_WORD_SECONDS = 0.8;

/**
 * Models may skip a sentence, or stop at the end of a sentence although speech continues after a pause. If a span of
 * speech between pauses has no words, returns the parts in which to recognize the utterance again. Returns an empty array
 * if no speech was missed, or if there are no words at all.
 */
export function partsToRetry(utterance: SpokenUtterance, words: readonly TimedWord[]): SpokenUtterance[] {
  const { speech } = utterance;
  const fitted = fitToPauses(words, speech);
  const hasWords = speech.map((span) => {
    const count = fitted.filter(({ start, end }) => start < span.end && end > span.start).length;
    return count > 0 && count >= MIN_WORDS_PER_SECOND * (span.end - span.start - SLOW_WORD_SECONDS);
  });
  if (!hasWords.includes(true)) return [];
  const runs: { from: number; to: number; hasWords: boolean }[] = [];
  for (const [index, spanHasWords] of hasWords.entries()) {
    const last = runs.at(-1);
    if (last?.hasWords === spanHasWords) last.to = index + 1;
    else runs.push({ from: index, to: index + 1, hasWords: spanHasWords });
  }
  const parts = runs.map(({ from, to, ...run }) => ({
    ...run,
    part: cutOut({ whole: utterance, from, to }),
  }));
  const isMissing = parts.some(
    ({ part, ...run }) => !run.hasWords && speechSeconds(part) >= MIN_SPEECH_SECONDS,
  );
  return isMissing ? parts.map(({ part }) => part) : [];
}
