import type { LanguageProbabilities } from "../engines/engine.ts";

/**
 * Which language is spoken when: the likeliest path through what was detected utterance by utterance, where
 * every change of language costs something (Viterbi, "Error bounds for convolutional codes", 1967). One
 * utterance alone is often told wrongly (Norwegian for Danish, an accent for a language); a recording
 * changes its language rarely.
 *
 * The constants follow from what a switch must not happen for. A passage between two of another language
 * takes two changes: it is told as a language of its own from 3.5 s of speech on, and only where that
 * language is 55 times as likely as the one around it. A change for good takes e² = 7.4 times, or two or
 * three short utterances that agree. A language that is told wrongly has neither such odds nor such
 * company, and a passage that is told late by a few seconds does less harm than one that was never there.
 */

/** Natural logarithm of the odds that a change must have for itself. */
const CHANGE_COST = 2;
/** A few seconds of speech tell a language badly: less counts in proportion, more does not count more. */
const FULL_WEIGHT_SECONDS = 4;
/** No detection is surer than this of a language that it is not. */
const LEAST_PROBABILITY = 0.01;

export interface LanguageObservation {
  /** Empty where nothing was told. */
  probabilities: LanguageProbabilities;
  /** Of speech. */
  seconds: number;
}

/**
 * How likely each language is after all that was observed so far, natural logarithm, 0 the likeliest. One
 * that is not in it is a change away from the likeliest.
 */
export type LanguageScores = ReadonlyMap<string, number>;

/**
 * The likeliest language of each observation; null of all where nothing tells a language.
 * @param before The scores of everything before the first observation.
 */
export function likeliestLanguages(
  before: LanguageScores,
  observations: readonly LanguageObservation[],
): (string | null)[] {
  const languages = languagesOf(before, observations);
  /** For each observation and language, the language of the observation before it. */
  const origins: Map<string, string>[] = [];
  let scores = withAll(before, languages);
  for (const observation of observations) {
    const likeliest = likeliestOf(scores);
    const best = scores.get(likeliest ?? "") ?? 0;
    origins.push(
      new Map(
        Array.from(scores, ([language, score]) => [
          language,
          score >= best - CHANGE_COST ? language : (likeliest ?? language),
        ]),
      ),
    );
    scores = follow(scores, observation);
  }
  let language = likeliestOf(scores);
  const path: (string | null)[] = [];
  for (const origin of origins.toReversed()) {
    path.unshift(language);
    language = language === null ? null : (origin.get(language) ?? null);
  }
  return path;
}

/** The scores after these observations. */
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

/** The first of those that are as likely. */
function likeliestOf(scores: LanguageScores): string | null {
  let likeliest: string | null = null;
  for (const [language, score] of scores) {
    if (likeliest === null || score > (scores.get(likeliest) as number)) likeliest = language;
  }
  return likeliest;
}
