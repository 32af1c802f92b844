import { fitToPauses } from "../alignment/fit-words.ts";
import type { TimedWord } from "../transcript.ts";
import { cutOut, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/** Shorter spans may be coughs that were detected as speech. */
const MIN_SPEECH_SECONDS = 0.6;

/** Hardly anybody speaks more slowly; the words may belong to another span, where a sentence was skipped … */
const MIN_WORDS_PER_SECOND = 1;
/** … but one long word may take this long. */
const SLOW_WORD_SECONDS = 0.8;

/**
 * Models stop at the end of a sentence although speech continues after a pause, or skip one; its words may
 * then be placed on another sentence. If a span of speech between pauses has no words, returns the parts in
 * which to recognize the utterance again, alternately with and without words. Returns none if nothing is
 * missing.
 * @param words Recognized words; if there are none at all, nothing is retried.
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
