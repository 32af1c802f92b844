import type { LanguageProbabilities } from "../engines/engine.ts";
import { cutOut, partsAtPauses, speechSeconds, type UtterancePart } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import {
  type LanguageObservation,
  type LanguageScores,
  mostLikelyLanguages,
  scoresAfter,
} from "./language-path.ts";

/** Less speech, a word or two, does not identify a language even with the help of its neighbors. */
const MIN_PART_SECONDS = 0.6;
/** Each part costs an engine as much as the whole utterance. */
const MAX_PARTS = 8;
/** If the language of an utterance is less likely than this, parts of it may be in another language. */
const DIVIDED_PROBABILITY = 0.85;
/** After this many splits into parts of the same language, low probabilities are probably due to noise or a dialect. */
const FRUITLESS_SPLITS = 3;

export interface DetectedUtterance {
  utterance: SpokenUtterance;
  probabilities: LanguageProbabilities;
  /** True if the whole utterance is known to be in one language. */
  isSingleLanguage: boolean;
}

/** An utterance, or a part of one, with its language. */
export interface LanguageUtterance {
  utterance: SpokenUtterance;
  /** Null if undetermined. */
  language: string | null;
  probability: number;
}

export type DetectLanguages = (utterances: readonly SpokenUtterance[]) => Promise<LanguageProbabilities[]>;

interface Part extends UtterancePart, LanguageObservation {
  /** The object that was passed to the engine, which may have cached results for it. */
  utterance: SpokenUtterance;
  isSingleLanguage: boolean;
}

/** Finds changes of language in one recording, between utterances and inside them. */
export class LanguageTracker {
  #scores: LanguageScores = new Map();
  #last: string | null = null;
  #fruitlessSplits = 0;

  /**
   * Determines the languages of the next utterances. Splits utterances in which the language changes.
   * @param ahead later utterances, which may resolve ambiguity
   */
  async settle(
    next: readonly DetectedUtterance[],
    ahead: readonly DetectedUtterance[],
    detect: DetectLanguages,
  ): Promise<LanguageUtterance[]> {
    const observedAhead = ahead.map(observationOf);
    let parts = next.map(wholePart);
    let path: (string | null)[];
    const divided = new Set<SpokenUtterance>();
    for (;;) {
      path = mostLikelyLanguages(this.#scores, [...parts, ...observedAhead]);
      const toSplit = new Set<Part>();
      for (const [index, part] of parts.entries()) {
        if (part.isSingleLanguage) continue;
        const language = path[index] ?? null;
        const isBesideChange = [index === 0 ? this.#last : path[index - 1], path[index + 1]].some(
          (neighbor) => neighbor !== undefined && neighbor !== null && neighbor !== language,
        );
        const isDivided = this.#fruitlessSplits < FRUITLESS_SPLITS && isDividedIn(part, language);
        if (isDivided && !isBesideChange) divided.add(part.whole);
        if (isDivided || isBesideChange) toSplit.add(part);
      }
      if (toSplit.size === 0) break;
      parts = await splitUp(parts, toSplit, detect);
    }
    this.#scores = scoresAfter(this.#scores, parts);
    this.#countFruitless(parts, path, divided);
    this.#last = path[parts.length - 1] ?? this.#last;
    return joined(parts, path);
  }

  #countFruitless(
    parts: readonly Part[],
    path: readonly (string | null)[],
    divided: ReadonlySet<SpokenUtterance>,
  ) {
    const languages = new Map<SpokenUtterance, Set<string | null>>();
    for (const [index, { whole }] of parts.entries()) {
      if (!divided.has(whole)) continue;
      languages.set(whole, (languages.get(whole) ?? new Set()).add(path[index] ?? null));
    }
    for (const { size } of languages.values())
      this.#fruitlessSplits = size > 1 ? 0 : this.#fruitlessSplits + 1;
    if (new Set(path.slice(0, parts.length)).size > 1) this.#fruitlessSplits = 0;
  }
}

function observationOf({ utterance, probabilities }: DetectedUtterance): LanguageObservation {
  return { probabilities, seconds: speechSeconds(utterance) };
}

function wholePart(detected: DetectedUtterance): Part {
  const { utterance, isSingleLanguage } = detected;
  return {
    whole: utterance,
    utterance,
    from: 0,
    to: utterance.speech.length,
    isSingleLanguage,
    ...observationOf(detected),
  };
}

function isDividedIn({ probabilities }: Part, language: string | null): boolean {
  return (
    language !== null && probabilities.size > 0 && (probabilities.get(language) ?? 0) < DIVIDED_PROBABILITY
  );
}

/** Splits the parts in `toSplit` at their pauses. Parts without pauses remain. */
async function splitUp(
  parts: readonly Part[],
  toSplit: ReadonlySet<Part>,
  detect: DetectLanguages,
): Promise<Part[]> {
  const pieces = new Map<Part, UtterancePart[]>();
  for (const part of toSplit) {
    pieces.set(part, partsAtPauses(part.whole, Math.max(MIN_PART_SECONDS, part.seconds / MAX_PARTS)));
  }
  const cut = [...pieces.values()].filter(({ length }) => length > 1).flat();
  const utterances = cut.map(cutOut);
  const detected = cut.length === 0 ? [] : await detect(utterances);
  const split = new Map(
    cut.map((part, index): [UtterancePart, Part] => [
      part,
      {
        ...part,
        utterance: utterances[index]!,
        isSingleLanguage: true,
        probabilities: detected[index]!,
        seconds: speechSeconds(utterances[index]!),
      },
    ]),
  );
  return parts.flatMap((part) => {
    const partPieces = pieces.get(part);
    if (partPieces === undefined) return [part];
    if (partPieces.length === 1) return [{ ...part, isSingleLanguage: true }];
    return partPieces.map((piece) => split.get(piece) as Part);
  });
}

/** Joins adjacent parts of one utterance that have the same language. */
function joined(parts: readonly Part[], path: readonly (string | null)[]): LanguageUtterance[] {
  const runs: { parts: [Part, ...Part[]]; language: string | null }[] = [];
  for (const [index, part] of parts.entries()) {
    const language = path[index] ?? null;
    const last = runs.at(-1);
    if (last?.parts[0].whole === part.whole && last.language === language) last.parts.push(part);
    else runs.push({ parts: [part], language });
  }
  return runs.map(({ parts: [first, ...rest], language }) => {
    const all = [first, ...rest];
    const seconds = all.reduce((sum, part) => sum + part.seconds, 0);
    const likely = all.reduce(
      (sum, part) => sum + part.seconds * (part.probabilities.get(language ?? "") ?? 0),
      0,
    );
    return {
      utterance:
        rest.length === 0
          ? first.utterance
          : cutOut({ whole: first.whole, from: first.from, to: rest.at(-1)!.to }),
      language,
      probability: seconds === 0 ? 0 : likely / seconds,
    };
  });
}
