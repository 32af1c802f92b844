import type { Engine, Hearing, LanguageProbabilities } from "../engines/engine.ts";
import type { BatchLimits } from "../vad/batches.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";

/** What an engine tells of languages, whichever way it comes to know them. */
export interface LanguageTeller {
  /** How many utterances to tell at once. */
  readonly batch: BatchLimits;
  /** Which language each utterance is in; nothing of one that says nothing. */
  tell(utterances: readonly SpokenUtterance[], signal: AbortSignal): Promise<LanguageProbabilities[]>;
  /**
   * What each utterance says.
   * @param languages For each utterance the language that it is in; null where none is known.
   */
  write(
    utterances: readonly SpokenUtterance[],
    languages: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<Hearing[]>;
}

export function languageTeller(engine: Engine): LanguageTeller {
  const { detectLanguages } = engine;
  if (detectLanguages !== undefined) {
    return {
      batch: { utterances: 8, speechSeconds: 60 },
      tell: (utterances, signal) => detectLanguages.call(engine, utterances, signal),
      write: (utterances, languages, signal) => engine.hear(utterances, { signal, languages }),
    };
  }
  const [only] = engine.languages;
  if (only !== undefined && engine.languages.length === 1) {
    return {
      batch: { utterances: 8, speechSeconds: 60 },
      tell: async (utterances) => utterances.map(() => new Map([[only, 1]])),
      write: (utterances, _, signal) => engine.hear(utterances, { signal }),
    };
  }
  return new TellerByHearing(engine);
}

/** Such engines say which language they wrote, not how sure they are; so much lets a passage of 4 s stand alone. */
const WELL_HEARD_PROBABILITY = 0.95;
const BADLY_HEARD_PROBABILITY = 0.5;
/** Natural logarithm. What was heard worse was often heard in a language that it is not in. */
const WELL_HEARD_LOG_PROBABILITY = -0.7;

/**
 * Hears an utterance to learn its language, and keeps what it heard: it is heard again only where its
 * language turns out to be another.
 */
class TellerByHearing implements LanguageTeller {
  /** Twice as much as for a model on this machine: a fleet of servers hears many at once. */
  readonly batch = { utterances: 16, speechSeconds: 120 };
  readonly #engine: Engine;
  readonly #heard = new WeakMap<SpokenUtterance, Hearing>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async tell(utterances: readonly SpokenUtterance[], signal: AbortSignal): Promise<LanguageProbabilities[]> {
    const hearings = await this.#engine.hear(utterances, { signal });
    return hearings.map((hearing, index) => {
      this.#heard.set(utterances[index]!, hearing);
      const { language, words, meanLogProbability } = hearing;
      if (language === null || words.length === 0) return new Map();
      const isWellHeard = meanLogProbability >= WELL_HEARD_LOG_PROBABILITY;
      return new Map([[language, isWellHeard ? WELL_HEARD_PROBABILITY : BADLY_HEARD_PROBABILITY]]);
    });
  }

  async write(
    utterances: readonly SpokenUtterance[],
    languages: readonly (string | null)[],
    signal: AbortSignal,
  ): Promise<Hearing[]> {
    const again: { utterance: SpokenUtterance; language: string | null }[] = [];
    for (const [index, utterance] of utterances.entries()) {
      const language = languages[index] ?? null;
      if (!this.#isWrittenIn(utterance, language)) again.push({ utterance, language });
    }
    if (again.length > 0) {
      const hearings = await this.#engine.hear(
        again.map(({ utterance }) => utterance),
        { signal, languages: again.map(({ language }) => language) },
      );
      for (const [index, { utterance }] of again.entries()) this.#heard.set(utterance, hearings[index]!);
    }
    return utterances.map((utterance) => this.#heard.get(utterance) as Hearing);
  }

  /** Nothing heard is nothing in any language. */
  #isWrittenIn(utterance: SpokenUtterance, language: string | null): boolean {
    const heard = this.#heard.get(utterance);
    if (heard === undefined) return false;
    return language === null || heard.words.length === 0 || heard.language === language;
  }
}
