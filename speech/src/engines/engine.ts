import type { TimedWord } from "../transcript.ts";

/** A stretch of 16 kHz mono samples with speech in it, cut at pauses. */
export interface Utterance {
  /** Samples at 16 kHz, −1 … 1. */
  samples: Float32Array;
  /** Seconds of the media at which the first sample stands. */
  start: number;
}

/** What an engine heard in one utterance. */
export interface Hearing {
  /** Word times are seconds of the media. */
  words: TimedWord[];
  /**
   * The language that the words are in: an ISO 639-1 (or 639-3) code. Null where the engine can not tell: one
   * that knows a single language writes whatever it hears in it.
   */
  language: string | null;
  /** Mean log-probability of the tokens chosen, natural logarithm, ≤ 0. */
  meanLogProbability: number;
  /** How much the text repeats itself, as `compressionRatio` in `repetition.ts` measures it. */
  compressionRatio: number;
  /** Probability that nobody speaks, 0 … 1; null where the engine does not say. */
  noSpeechProbability: number | null;
  /** Set where the engine stopped at its token limit or in a loop rather than at an end of text. */
  cutOff: boolean;
}

/** How likely each language is, by its ISO 639-1 (or 639-3) code; they add up to 1 at most. */
export type LanguageProbabilities = ReadonlyMap<string, number>;

export interface HearOptions {
  signal: AbortSignal;
  /** For each utterance the language to write it down in; null, or left out, where the engine is to tell. */
  languages?: readonly (string | null)[];
}

/**
 * A speech-to-text model with its runner: audio in, words with times out. Engines see samples only,
 * never files, the database or the storage.
 */
export interface Engine {
  /** For people and logs: `moonshine-tiny`. */
  readonly name: string;
  /** ISO 639-1 (or 639-3) codes of what it can write down. */
  readonly languages: readonly string[];
  /** Longest utterance it takes, seconds. */
  readonly maxUtteranceSeconds: number;
  /** Sentences for operators: what it does less well here than it could. */
  readonly warnings?: readonly string[];
  /**
   * Hears a batch of utterances; one hearing for each, in the same order.
   * @throws SpeechError `model_unusable` where the model gives what its files do not promise.
   */
  hear(utterances: readonly Utterance[], options: HearOptions): Promise<Hearing[]>;
  /**
   * Which language each utterance is in, before it is heard. Absent where the engine knows one language, or
   * tells the language of what it has heard only.
   */
  detectLanguages?(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]>;
  close(): Promise<void>;
}
