import type { Engine, LanguageProbabilities, RecognitionResult } from "../engines/engine.ts";
import { endOf, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { englishScore } from "./english-evidence.ts";
import type { DetectLanguages } from "./language-tracker.ts";

/** Minimum detected probability of English. */
export const ENGLISH_PROBABILITY = 0.9;
/** Minimum score of the bundled engine (`englishScore`), which other languages do not reach. */
const CLEAR_SCORE = -0.4;
/** Maximum time between two utterances whose language is detected in any case. */
const PROBE_INTERVAL_SECONDS = 80;

/** The utterances that the bundled engine may transcribe, and what was learned while finding them. */
export interface EnglishUtterances {
  /** Utterances that are clearly English, with the bundled engine's results. */
  accepted: ReadonlyMap<SpokenUtterance, RecognitionResult>;
  /** Detected languages of the utterances that were probed. */
  detected: ReadonlyMap<SpokenUtterance, LanguageProbabilities>;
}

/**
 * Finds the utterances that an English-only engine may transcribe. Detecting a language costs most of what
 * transcribing with a large model costs, and is wasted on utterances that the bundled engine transcribes. So
 * a few utterances are probed first. If none of them is English, the bundled engine is not used. Otherwise it
 * transcribes everything that may be English, and utterances next to anything uncertain are probed too, until
 * all borders are English.
 * @param group in order of time
 */
export async function findEnglishUtterances(
  group: readonly SpokenUtterance[],
  bundled: Engine,
  detect: DetectLanguages,
  signal: AbortSignal,
): Promise<EnglishUtterances> {
  const detected = new Map<SpokenUtterance, LanguageProbabilities>();
  const probe = async (utterances: readonly SpokenUtterance[]) => {
    const probabilities = await detect(utterances);
    for (const [index, utterance] of utterances.entries()) detected.set(utterance, probabilities[index]!);
  };
  const isEnglish = (utterance: SpokenUtterance) =>
    (detected.get(utterance)?.get("en") ?? 0) >= ENGLISH_PROBABILITY;

  const probes = spread(group);
  await probe(probes);
  if (!probes.some(isEnglish)) return { accepted: new Map(), detected };

  const mayBeEnglish = group.filter((utterance) => !detected.has(utterance) || isEnglish(utterance));
  const results = await bundled.recognize(mayBeEnglish, { signal });
  const accepted = new Map<SpokenUtterance, RecognitionResult>();
  for (const [index, utterance] of mayBeEnglish.entries()) {
    const result = results[index]!;
    if (englishScore(result, speechSeconds(utterance)) >= CLEAR_SCORE) accepted.set(utterance, result);
  }
  for (;;) {
    const borders = group.filter(
      (utterance, index) =>
        accepted.has(utterance) &&
        !detected.has(utterance) &&
        [group[index - 1], group[index + 1]].some((beside) => beside !== undefined && !accepted.has(beside)),
    );
    if (borders.length === 0) return { accepted, detected };
    await probe(borders);
    for (const utterance of borders) if (!isEnglish(utterance)) accepted.delete(utterance);
  }
}

/** The first, the last, and some between them. */
function spread(group: readonly SpokenUtterance[]): SpokenUtterance[] {
  let next = Number.NEGATIVE_INFINITY;
  return group.filter((utterance, index) => {
    if (utterance.start < next && index < group.length - 1) return false;
    next = endOf(utterance) + PROBE_INTERVAL_SECONDS;
    return true;
  });
}
