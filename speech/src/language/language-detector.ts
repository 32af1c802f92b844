import type { Engine, LanguageProbabilities, RecognitionResult } from "../engines/engine.ts";
import type { BatchLimits } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { textLanguage } from "./text-language.ts";

/** Detects languages with any engine, even if the engine detects them only while it transcribes. */
export interface LanguageDetector {
  /** Limits of one call of `detect`. */
  readonly batch: BatchLimits;
  /** Returns an empty map for an utterance without words. */
  detect(utterances: readonly SpokenUtterance[], signal: AbortSignal): Promise<LanguageProbabilities[]>;
  /** @param languages language of each utterance; null if unknown */
  recognize(
    utterances: readonly SpokenUtterance[],
    languages: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<RecognitionResult[]>;
}

export function languageDetector(engine: Engine): LanguageDetector {
  const { detectLanguages } = engine;
  if (detectLanguages !== undefined) {
    return {
      batch: { utterances: 8, speechSeconds: 60 },
      detect: (utterances, signal) => detectLanguages.call(engine, utterances, signal),
      recognize: (utterances, languages, signal) => engine.recognize(utterances, { signal, languages }),
    };
  }
  const [only] = engine.languages;
  if (only !== undefined && engine.languages.length === 1) {
    return {
      batch: { utterances: 8, speechSeconds: 60 },
      detect: async (utterances) => utterances.map(() => new Map([[only, 1]])),
      recognize: (utterances, _, signal) => engine.recognize(utterances, { signal }),
    };
  }
  return new DetectorByRecognition(engine);
}

/** Engines without `detectLanguages` report no probability. With this value, 4 s suffice for a change of language. */
const CONFIDENT_PROBABILITY = 0.95;
const UNSURE_PROBABILITY = 0.5;
/** Results with a lower mean log-probability were often transcribed in the wrong language. */
const CONFIDENT_LOG_PROBABILITY = -0.7;

/** Transcribes utterances to detect their language, and again only if the final language is different. */
class DetectorByRecognition implements LanguageDetector {
  /** Twice as large as for a local model, because several servers work in parallel. */
  readonly batch = { utterances: 16, speechSeconds: 120 };
  readonly #engine: Engine;
  readonly #results = new WeakMap<SpokenUtterance, RecognitionResult>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async detect(
    utterances: readonly SpokenUtterance[],
    signal: AbortSignal,
  ): Promise<LanguageProbabilities[]> {
    const recognized = await this.#engine.recognize(utterances, { signal });
    const results = await Promise.all(recognized.map(withLanguage));
    return results.map((result, index) => {
      this.#results.set(utterances[index]!, result);
      const { language, words, meanLogProbability } = result;
      if (language === null || words.length === 0) return new Map();
      const isConfident = meanLogProbability >= CONFIDENT_LOG_PROBABILITY;
      return new Map([[language, isConfident ? CONFIDENT_PROBABILITY : UNSURE_PROBABILITY]]);
    });
  }

  async recognize(
    utterances: readonly SpokenUtterance[],
    languages: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<RecognitionResult[]> {
    const missing: { utterance: SpokenUtterance; language: string | null }[] = [];
    for (const [index, utterance] of utterances.entries()) {
      const language = languages[index] ?? null;
      if (!this.#isTranscribedIn(utterance, language)) missing.push({ utterance, language });
    }
    if (missing.length > 0) {
      const recognized = await this.#engine.recognize(
        missing.map(({ utterance }) => utterance),
        { signal, languages: missing.map(({ language }) => (language === "und" ? null : language)) },
      );
      const results = await Promise.all(recognized.map(withLanguage));
      for (const [index, { utterance }] of missing.entries()) this.#results.set(utterance, results[index]!);
    }
    return utterances.map((utterance) => this.#results.get(utterance) as RecognitionResult);
  }

  /**
   * An utterance without words is assumed to have none in any language. Text whose language is unknown is kept, because
   * requesting it in the language of its neighbors would translate it if it is in a different one.
   */
  #isTranscribedIn(utterance: SpokenUtterance, language: string | null): boolean {
    const result = this.#results.get(utterance);
    if (result === undefined) return false;
    if (language === null || result.language === null) return true;
    return result.words.length === 0 || result.language === language;
  }
}

/** Detects the language from the words if the engine does not report it. */
async function withLanguage(result: RecognitionResult): Promise<RecognitionResult> {
  if (result.language !== null || result.words.length === 0) return result;
  return { ...result, language: await textLanguage(result.words.map(({ word }) => word).join(" ")) };
}
