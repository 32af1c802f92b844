import type { TimedWord } from "../transcript.ts";
import type { Utterance } from "../vad/utterances.ts";

/** What an engine recognized in one utterance. */
export interface RecognitionResult {
  /** Times are seconds of the media. */
  words: TimedWord[];
  /**
   * Language of the words: an ISO 639-1 (or 639-3) code. Null if the engine cannot detect it: an engine of
   * one language transcribes everything as that language.
   */
  language: string | null;
  /** Mean natural log-probability of the chosen tokens, ≤ 0. */
  meanLogProbability: number;
  /** How repetitive the text is, as measured by `compressionRatio`. */
  compressionRatio: number;
  /** Probability that the audio contains no speech, 0 … 1; null if the engine does not report it. */
  noSpeechProbability: number | null;
  /** True if the engine stopped at its token limit or in a repetition loop instead of at an end of text. */
  truncated: boolean;
  /** True if word times are estimated from segments or from voice activity. */
  hasEstimatedTimes?: boolean;
}

/** Probabilities by ISO 639-1 (or 639-3) code; their sum is at most 1. */
export type LanguageProbabilities = ReadonlyMap<string, number>;

export interface RecognizeOptions {
  signal: AbortSignal;
  /** The language of each utterance; null or omitted to let the engine detect it. */
  languages?: readonly (string | null)[];
}

/**
 * A speech-to-text model with its runtime: audio in, timed words out. Engines get samples only, never files,
 * the database or the storage. To add one: a folder beside this file, an entry in `registry.ts`, settings and
 * documentation.
 */
export interface Engine {
  /** Name for users and logs: `moonshine-tiny`. */
  readonly name: string;
  /** ISO 639-1 (or 639-3) codes of the languages that it can transcribe. */
  readonly languages: readonly string[];
  /** Longest utterance that it accepts, seconds. */
  readonly maxUtteranceSeconds: number;
  /** Sentences for operators: known limitations of this model or installation. */
  readonly warnings?: readonly string[];
  /**
   * Transcribes a batch of utterances.
   * @returns One result for each utterance, in the same order.
   * @throws SpeechError `model_unusable` if the model's output contradicts its files.
   */
  recognize(utterances: readonly Utterance[], options: RecognizeOptions): Promise<RecognitionResult[]>;
  /**
   * Detects the language of each utterance without transcribing it. Absent if the engine supports one
   * language, or reports the language only with the transcribed text.
   */
  detectLanguages?(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]>;
  close(): Promise<void>;
}
