import type { TimedWord } from "../transcript.ts";
import type { Utterance } from "../vad/utterances.ts";

export interface RecognitionResult {
  /** Times are seconds of the media. */
  words: TimedWord[];
  /**
   * ISO 639-1 (or 639-3) code. Null if the engine did not detect a language. An engine with only one language transcribes
   * all speech as that language.
   */
  language: string | null;
  /** Mean natural log-probability of the chosen tokens, ≤ 0. */
  meanLogProbability: number;
  /** Result of `compressionRatio`, which is high for repetitive text. */
  compressionRatio: number;
  /** Probability that the audio contains no speech, 0 … 1; null if the engine does not report it. */
  noSpeechProbability: number | null;
  /** True if decoding stopped at the token limit or in a repetition loop instead of at the end of the text. */
  truncated: boolean;
  /** True if word times are estimated from segments or from voice activity. */
  hasEstimatedTimes?: boolean;
}

/** Keyed by ISO 639-1 (or 639-3) code. The sum is at most 1. */
export type LanguageProbabilities = ReadonlyMap<string, number>;

export interface RecognizeOptions {
  signal: AbortSignal;
  /** The language of each utterance; null or omitted to let the engine detect it. */
  languages?: readonly (string | null)[];
  /** Names and terms that may be spoken, most important first. Engines that cannot use them ignore them. */
  vocabulary?: readonly string[];
}

/**
 * A speech-to-text model with its runtime. Engines receive only samples, never files or database connections. To add an
 * engine, add a folder next to this file, an entry in `registry.ts`, settings and documentation.
 *
 * Whether word times are measured is part of each result, not of the engine: a server can return times for one request
 * and only text for another.
 */
export interface Engine {
  /** Name for users and logs: `moonshine-tiny`. */
  readonly name: string;
  /** ISO 639-1 (or 639-3) codes. */
  readonly languages: readonly string[];
  readonly maxUtteranceSeconds: number;
  /** Limitations of this model or installation, as sentences for operators. */
  readonly warnings?: readonly string[];
  /**
   * Transcribes a batch of utterances.
   * @returns one result for each utterance, in the same order
   * @throws SpeechError `model_unusable` if the model's output does not match its files
   */
  recognize(utterances: readonly Utterance[], options: RecognizeOptions): Promise<RecognitionResult[]>;
  /**
   * Detects the language of each utterance without transcribing it. Absent if the engine supports only one language, or
   * detects the language only while it transcribes.
   */
  detectLanguages?(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]>;
  close(): Promise<void>;
}
