import type { Engine, LanguageProbabilities, RecognitionResult } from "../engines/engine.ts";
import { endOf, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { englishScore } from "./english-evidence.ts";
import type { DetectLanguages } from "./language-tracker.ts";

/** Minimum detected probability of English. */
export const ENGLISH_PROBABILITY = 0.9;
/** Minimum `englishScore` of the bundled engine. Other languages do not reach it. */
const CLEAR_SCORE = -0.4;
/** Minimum time between the utterances that are probed first; the last utterance is always probed. */
const PROBE_INTERVAL_SECONDS = 80;

export interface EnglishUtterances {
  accepted: ReadonlyMap<SpokenUtterance, RecognitionResult>;
  detected: ReadonlyMap<SpokenUtterance, LanguageProbabilities>;
}

/**
 * Finds the utterances that the bundled, English-only engine can transcribe. Language detection with a large model costs
 * nearly as much as transcription, so it is limited to a few probes. If no probe is English, the bundled engine is not
 * used. Otherwise it transcribes all utterances that may be English. Then accepted utterances next to rejected ones are
 * probed until all borders are English.
 * @param group in chronological order
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

  const probes = chooseProbes(group);
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
        [group[index - 1], group[index + 1]].some(
          (neighbor) => neighbor !== undefined && !accepted.has(neighbor),
        ),
    );
    if (borders.length === 0) return { accepted, detected };
    await probe(borders);
    for (const utterance of borders) if (!isEnglish(utterance)) accepted.delete(utterance);
  }
}

/** Returns the first utterance, the last, and some between them. */
function chooseProbes(group: readonly SpokenUtterance[]): SpokenUtterance[] {
  let next = Number.NEGATIVE_INFINITY;
  return group.filter((utterance, index) => {
    if (utterance.start < next && index < group.length - 1) return false;
    next = endOf(utterance) + PROBE_INTERVAL_SECONDS;
    return true;
  });
}
