import type { Engine, Hearing, LanguageProbabilities } from "../engines/engine.ts";
import { endOf, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { englishScore } from "./english-evidence.ts";
import type { DetectLanguages } from "./language-tracker.ts";

/** Where the language was detected, it must be English as surely as this. */
export const ENGLISH_PROBABILITY = 0.9;
/** The bundled engine's score of an utterance (`englishScore`) that other languages do not reach. */
const CLEAR_SCORE = -0.4;
/** Between two utterances whose language is detected in any case. */
const PROBE_INTERVAL_SECONDS = 80;

/** What the bundled engine may have of a group of utterances, and what was learnt while finding out. */
export interface EnglishShare {
  /** Utterances in English beyond doubt, as the bundled engine heard them. */
  taken: ReadonlyMap<SpokenUtterance, Hearing>;
  /** Languages of the utterances in which they were detected. */
  detected: ReadonlyMap<SpokenUtterance, LanguageProbabilities>;
}

/**
 * Finds what an engine that knows English only may have. To detect a language costs most of what it costs
 * to hear an utterance with a large model, and is wasted only on what the bundled engine then takes. So: a
 * few probes first; where none of them is English the bundled engine hears nothing; else it hears all that
 * may be English, and what borders on anything it is not sure of is probed too, until all borders are English.
 * @param group in order of time
 */
export async function englishShare(
  group: readonly SpokenUtterance[],
  bundled: Engine,
  detect: DetectLanguages,
  signal: AbortSignal,
): Promise<EnglishShare> {
  const detected = new Map<SpokenUtterance, LanguageProbabilities>();
  const probe = async (utterances: readonly SpokenUtterance[]) => {
    const probabilities = await detect(utterances);
    for (const [index, utterance] of utterances.entries()) detected.set(utterance, probabilities[index]!);
  };
  const isEnglish = (utterance: SpokenUtterance) =>
    (detected.get(utterance)?.get("en") ?? 0) >= ENGLISH_PROBABILITY;

  const probes = spread(group);
  await probe(probes);
  if (!probes.some(isEnglish)) return { taken: new Map(), detected };

  const mayBeEnglish = group.filter((utterance) => !detected.has(utterance) || isEnglish(utterance));
  const hearings = await bundled.hear(mayBeEnglish, { signal });
  const taken = new Map<SpokenUtterance, Hearing>();
  for (const [index, utterance] of mayBeEnglish.entries()) {
    const hearing = hearings[index]!;
    if (englishScore(hearing, speechSeconds(utterance)) >= CLEAR_SCORE) taken.set(utterance, hearing);
  }
  for (;;) {
    const borders = group.filter(
      (utterance, index) =>
        taken.has(utterance) &&
        !detected.has(utterance) &&
        [group[index - 1], group[index + 1]].some((beside) => beside !== undefined && !taken.has(beside)),
    );
    if (borders.length === 0) return { taken, detected };
    await probe(borders);
    for (const utterance of borders) if (!isEnglish(utterance)) taken.delete(utterance);
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
