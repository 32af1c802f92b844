import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type LanguageObservation,
  type LanguageScores,
  mostLikelyLanguages,
  scoresAfter,
} from "../../src/language/language-path.ts";

const START: LanguageScores = new Map();

function observed(language: string, probability: number, seconds: number, other = "en"): LanguageObservation {
  return {
    seconds,
    probabilities: new Map([
      [language, probability],
      [other, (1 - probability) / 2],
    ]),
  };
}
const english = (seconds: number) => observed("en", 0.97, seconds, "es");

const observation = fc.record({
  seconds: fc.double({ min: 0, max: 30, noNaN: true }),
  probabilities: fc.oneof(
    fc.constant(new Map<string, number>()),
    fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100)).map((parts) => {
      const all = parts.reduce((sum, part) => sum + part, 1);
      return new Map(parts.map((part, index) => [["en", "es", "pt"][index]!, part / all]));
    }),
  ),
});

/** The score that a path has, by its definition. */
function scoreOf(path: readonly string[], observations: readonly LanguageObservation[]): number {
  return observations.reduce((sum, { probabilities, seconds }, index) => {
    const weight = probabilities.size === 0 ? 0 : Math.min(1, seconds / 4);
    const change = index > 0 && path[index - 1] !== path[index] ? 2 : 0;
    return sum + weight * Math.log(Math.max(0.01, probabilities.get(path[index]!) ?? 0)) - change;
  }, 0);
}

function* pathsOf(length: number): Generator<string[]> {
  if (length === 0) return yield [];
  for (const rest of pathsOf(length - 1))
    for (const language of ["en", "es", "pt"]) yield [...rest, language];
}

test("no other path through a recording is likelier", () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 5 }), (observations) => {
      const path = mostLikelyLanguages(START, observations);
      fc.pre(path[0] !== null);
      const best = Math.max(
        ...Array.from(pathsOf(observations.length), (other) => scoreOf(other, observations)),
      );
      expect(scoreOf(path as string[], observations)).toBeCloseTo(best, 6);
    }),
  );
});

test("every observation gets a language that was observed, or none if nothing was", () => {
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 40 }), (observations) => {
      const path = mostLikelyLanguages(START, observations);
      expect(path.length).toBe(observations.length);
      const observed = new Set(
        observations.flatMap(({ probabilities }) =>
          Array.from(probabilities).flatMap(([language, probability]) =>
            probability > 0.01 ? [language] : [],
          ),
        ),
      );
      for (const language of path) {
        if (observed.size === 0) expect(language).toBeNull();
        else expect(observed).toContain(language);
      }
    }),
  );
});

/** Each language is in question from the first observation on. */
const anyLanguage = observation.map(({ seconds, probabilities }) => ({
  seconds,
  probabilities: new Map(
    ["en", "es", "pt"].map((code) => [code, 0.02 + 0.9 * (probabilities.get(code) ?? 0)] as const),
  ),
}));

test("it makes no difference whether observations come in pieces, and old ones weigh no more than a change", () => {
  fc.assert(
    fc.property(fc.array(anyLanguage, { minLength: 1, maxLength: 30 }), fc.nat(29), (observations, cut) => {
      const whole = scoresAfter(START, observations);
      const inPieces = scoresAfter(scoresAfter(START, observations.slice(0, cut)), observations.slice(cut));
      for (const [language, score] of whole) {
        expect(inPieces.get(language)).toBeCloseTo(score, 6);
        expect(score).toBeLessThanOrEqual(0);
        expect(score).toBeGreaterThan(-7);
      }
    }),
  );
});

test("one short or doubtful utterance follows its neighbors, also at the start and the end", () => {
  for (const odd of [observed("cy", 0.99, 2.5), observed("cy", 0.8, 20)]) {
    expect(mostLikelyLanguages(START, [english(10), odd, english(10)])).toEqual(["en", "en", "en"]);
  }
  const odd = observed("cy", 0.8, 2);
  expect(mostLikelyLanguages(START, [odd, english(10)])).toEqual(["en", "en"]);
  expect(mostLikelyLanguages(START, [english(10), odd])).toEqual(["en", "en"]);
});

test("a clear passage of four seconds is a change, and so is a change for good in short utterances", () => {
  expect(mostLikelyLanguages(START, [english(10), observed("es", 0.99, 4), english(10)])).toEqual([
    "en",
    "es",
    "en",
  ]);
  const short = Array.from({ length: 3 }, () => observed("es", 0.97, 2));
  expect(mostLikelyLanguages(START, [english(10), ...short])).toEqual(["en", "es", "es", "es"]);
});

test("what was transcribed before decides what is doubtful, however long ago another language was spoken", () => {
  const doubtful = {
    seconds: 5,
    probabilities: new Map([
      ["en", 0.4],
      ["es", 0.5],
    ]),
  };
  const afterEnglish = scoresAfter(START, [english(10)]);
  expect(mostLikelyLanguages(afterEnglish, [doubtful])).toEqual(["en"]);
  const hours = Array.from({ length: 1_000 }, () => english(15));
  const spanishAtLast = scoresAfter(START, [...hours, observed("es", 0.99, 10)]);
  expect(mostLikelyLanguages(spanishAtLast, [doubtful])).toEqual(["es"]);
});

test("utterances that report nothing are in the language around them", () => {
  const nothing = { seconds: 10, probabilities: new Map() };
  expect(mostLikelyLanguages(START, [nothing, english(5), nothing])).toEqual(["en", "en", "en"]);
});
