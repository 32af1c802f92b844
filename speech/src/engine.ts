import type { TimedWord } from "./transcript.ts";

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
  /** Mean log-probability of the tokens chosen, natural logarithm, ≤ 0. */
  meanLogProbability: number;
  /** How much the text repeats itself: bytes of the text ÷ bytes of it compressed. */
  compressionRatio: number;
  /** Set where the engine stopped at its token limit or in a loop rather than at an end of text. */
  cutOff: boolean;
}

/**
 * A speech-to-text model with its runner: audio in, words with times out. Engines see samples only,
 * never files, the database or the storage.
 */
export interface Engine {
  /** For people and logs: `moonshine-tiny`. */
  readonly name: string;
  /** ISO 639-1 codes of what it can write down. */
  readonly languages: readonly string[];
  /** Longest utterance it takes, seconds. */
  readonly maxUtteranceSeconds: number;
  /** How many utterances make a good batch. */
  readonly batchSize: number;
  /**
   * Hears a batch of utterances; one hearing for each, in the same order.
   * @throws SpeechError `model_unusable` where the model gives what its files do not promise.
   */
  hear(utterances: readonly Utterance[], signal: AbortSignal): Promise<Hearing[]>;
  close(): Promise<void>;
}
