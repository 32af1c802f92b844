import type { LanguageProbabilities } from "../engines/engine.ts";

/**
 * Finds which language is spoken when: the most likely path through the detected probabilities, with a cost
 * for each change of language (Viterbi, "Error bounds for convolutional codes", 1967). The detection for a
 * single utterance is often wrong (Norwegian for Danish, an accent for a language), and recordings rarely
 * change their language.
 *
 * The constants follow from what must not cause a switch. A passage between two of another language takes two
 * changes: it counts as a language of its own from 3.5 s of speech on, and only if that language is 55 times
 * as likely as the surrounding one. A permanent change takes e² = 7.4 times, or two or three short utterances
 * that agree. Wrong detections reach neither, and detecting a passage a few seconds late does less harm than
 * inventing one.
 */

/** Natural log-odds that a change of language must have. */
const CHANGE_COST = 2;
/**
 * A few seconds of speech do not identify a language well: less speech has proportionally less weight, more
 * has the same.
 */
const FULL_WEIGHT_SECONDS = 4;
/** Lower limit of probabilities, so that no single detection rules out a language. */
const LEAST_PROBABILITY = 0.01;

export interface LanguageObservation {
  /** Empty if no language was detected. */
  probabilities: LanguageProbabilities;
  /** Of speech. */
  seconds: number;
}

/**
 * Natural log-likelihood of each language after all observations so far; 0 for the most likely. A language
 * that is missing is one change away from the most likely.
 */
export type LanguageScores = ReadonlyMap<string, number>;

/**
 * Returns the most likely language of each observation; null for all if nothing identifies a language.
 * @param before The scores of everything before the first observation.
 */
export function mostLikelyLanguages(
  before: LanguageScores,
  observations: readonly LanguageObservation[],
): (string | null)[] {
  const languages = languagesOf(before, observations);
  /** For each observation and language: the language of the observation before it. */
  const origins: Map<string, string>[] = [];
  let scores = withAll(before, languages);
  for (const observation of observations) {
    const mostLikely = mostLikelyOf(scores);
    const best = scores.get(mostLikely ?? "") ?? 0;
    origins.push(
      new Map(
        Array.from(scores, ([language, score]) => [
          language,
          score >= best - CHANGE_COST ? language : (mostLikely ?? language),
        ]),
      ),
    );
    scores = follow(scores, observation);
  }
  let language = mostLikelyOf(scores);
  const path: (string | null)[] = [];
  for (const origin of origins.toReversed()) {
    path.unshift(language);
    language = language === null ? null : (origin.get(language) ?? null);
  }
  return path;
}

export function scoresAfter(
  before: LanguageScores,
  observations: readonly LanguageObservation[],
): LanguageScores {
  let scores = withAll(before, languagesOf(before, observations));
  for (const observation of observations) scores = follow(scores, observation);
  return scores;
}

function follow(scores: LanguageScores, { probabilities, seconds }: LanguageObservation): LanguageScores {
  const best = Math.max(...scores.values());
  const weight = probabilities.size === 0 ? 0 : Math.min(1, seconds / FULL_WEIGHT_SECONDS);
  const after = Array.from(scores, ([language, score]): [string, number] => {
    const probability = Math.max(LEAST_PROBABILITY, probabilities.get(language) ?? 0);
    return [language, Math.max(score, best - CHANGE_COST) + weight * Math.log(probability)];
  });
  const highest = Math.max(...after.map(([, score]) => score));
  return new Map(after.map(([language, score]) => [language, score - highest]));
}

function languagesOf(scores: LanguageScores, observations: readonly LanguageObservation[]): Set<string> {
  const languages = new Set(scores.keys());
  for (const { probabilities } of observations) {
    for (const [language, probability] of probabilities) {
      if (probability > LEAST_PROBABILITY) languages.add(language);
    }
  }
  return languages;
}

function withAll(scores: LanguageScores, languages: ReadonlySet<string>): LanguageScores {
  const unseen = scores.size === 0 ? 0 : -CHANGE_COST;
  return new Map(Array.from(languages, (language) => [language, scores.get(language) ?? unseen]));
}

/** Returns the first language if several are equally likely. */
function mostLikelyOf(scores: LanguageScores): string | null {
  let mostLikely: string | null = null;
  for (const [language, score] of scores) {
    if (mostLikely === null || score > (scores.get(mostLikely) as number)) mostLikely = language;
  }
  return mostLikely;
}
