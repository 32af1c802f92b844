import type { LanguageProbabilities } from "../engines/engine.ts";

/*
 * Wrong detections must not cause a change of language, and a late change is better than a wrong one. A passage between
 * two of another language needs two changes. With these constants, it needs 3.5 s of speech and a language that is e⁴ =
 * 55 times as likely as its surroundings. A permanent change needs e² = 7.4 times, or two or three short utterances.
 */

/** Natural log-odds that a change of language must have. */
const CHANGE_COST = 2;
/** A few seconds of speech do not identify a language well, so shorter speech has proportionally less weight. */
const FULL_WEIGHT_SECONDS = 4;
/** Lower limit of probabilities, so no single detection excludes a language. */
const MIN_PROBABILITY = 0.01;

export interface LanguageObservation {
  /** Empty if no language was detected. */
  probabilities: LanguageProbabilities;
  /** Seconds of speech. */
  seconds: number;
}

/**
 * Natural log-likelihood of each language after all observations so far; 0 for the most likely. A missing language has
 * −`CHANGE_COST`.
 */
export type LanguageScores = ReadonlyMap<string, number>;

/**
 * Returns the most likely language of each observation, or null for all if no language was detected. Single detections
 * are often wrong (Norwegian instead of Danish, or because of an accent), and recordings rarely change their language.
 * Therefore this is the Viterbi path through the detected probabilities, with a cost for each change.
 * @param before scores before the first observation
 */
export function mostLikelyLanguages(
  before: LanguageScores,
  observations: readonly LanguageObservation[],
): (string | null)[] {
  const languages = languagesOf(before, observations);
  /** For each observation and language, the language of the previous observation on the best path. */
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
    scores = scoresWith(scores, observation);
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
  for (const observation of observations) scores = scoresWith(scores, observation);
  return scores;
}

function scoresWith(scores: LanguageScores, { probabilities, seconds }: LanguageObservation): LanguageScores {
  const best = Math.max(...scores.values());
  const weight = probabilities.size === 0 ? 0 : Math.min(1, seconds / FULL_WEIGHT_SECONDS);
  const after = Array.from(scores, ([language, score]): [string, number] => {
    const probability = Math.max(MIN_PROBABILITY, probabilities.get(language) ?? 0);
    return [language, Math.max(score, best - CHANGE_COST) + weight * Math.log(probability)];
  });
  const highest = Math.max(...after.map(([, score]) => score));
  return new Map(after.map(([language, score]) => [language, score - highest]));
}

function languagesOf(scores: LanguageScores, observations: readonly LanguageObservation[]): Set<string> {
  const languages = new Set(scores.keys());
  for (const { probabilities } of observations) {
    for (const [language, probability] of probabilities) {
      if (probability > MIN_PROBABILITY) languages.add(language);
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
