import { fitToPauses } from "../alignment/fit-words.ts";
import type { TimedWord } from "../transcript.ts";
import { cutOut, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/** Less may be a cough that voice activity took for speech. */
const MIN_SPEECH_SECONDS = 0.6;

/** Hardly anybody speaks so slowly; words of another stretch may stand where a sentence was left out … */
const MIN_WORDS_PER_SECOND = 1;
/** … but one long word alone may take so long. */
const SLOW_WORD_SECONDS = 0.8;

/**
 * Models stop at the end of a sentence although somebody speaks on after a pause, or leave one out; its
 * words may then stand where another sentence is. Where there is speech between pauses without a word, the
 * parts to hear the utterance again in: with words and without, by turns. None where nothing is amiss.
 * @param words That were heard in the utterance; where there are none at all, it holds none.
 */
export function partsToHearAgain(utterance: SpokenUtterance, words: readonly TimedWord[]): SpokenUtterance[] {
  const { speech } = utterance;
  const fitted = fitToPauses(words, speech);
  const hasWords = speech.map((stretch) => {
    const count = fitted.filter(({ start, end }) => start < stretch.end && end > stretch.start).length;
    return count > 0 && count >= MIN_WORDS_PER_SECOND * (stretch.end - stretch.start - SLOW_WORD_SECONDS);
  });
  if (!hasWords.includes(true)) return [];
  const runs: { from: number; to: number; hasWords: boolean }[] = [];
  for (const [index, stretchHasWords] of hasWords.entries()) {
    const last = runs.at(-1);
    if (last?.hasWords === stretchHasWords) last.to = index + 1;
    else runs.push({ from: index, to: index + 1, hasWords: stretchHasWords });
  }
  const parts = runs.map(({ from, to, ...run }) => ({
    ...run,
    part: cutOut({ whole: utterance, from, to }),
  }));
  const isAmiss = parts.some(
    ({ part, ...run }) => !run.hasWords && speechSeconds(part) >= MIN_SPEECH_SECONDS,
  );
  return isAmiss ? parts.map(({ part }) => part) : [];
}
