import type { Engine } from "../engines/engine.ts";
import { SpeechError } from "../errors.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { EnglishRecognizer } from "./english-recognizer.ts";
import { MultilingualRecognizer } from "./multilingual-recognizer.ts";
import type { RecognizedSpeech, RecognizerOptions } from "./recognized-speech.ts";

export interface Engines {
  /** English only; needs nothing but the package's own dependencies. */
  bundled: Engine | null;
  /**
   * Whisper or a server. The language of a single-language model (`.en`) is not verified, because the operator chose
   * the model.
   */
  multilingual: Engine | null;
  /**
   * Whether the bundled engine may transcribe what is clearly English because it is as good there and faster.
   * Requires a multilingual engine that detects languages before it transcribes.
   */
  bundledTakesEnglish: boolean;
  /** What to do if people speak a language that no engine here supports: a sentence for people. */
  remedy: string;
}

/** Turns the utterances of one recording into words: chooses language and engine, and filters hallucinations. */
export interface Recognizer {
  /**
   * Recognizes the next utterances, in order of time. Holds back the last of them, a minute at most, until
   * what follows is known.
   * @throws SpeechError `language_unsupported` as soon as the rest cannot change that
   */
  recognize(group: readonly SpokenUtterance[], options: RecognizerOptions): Promise<void>;
  /**
   * Recognizes the utterances that were held back.
   * @param durationSeconds Of the media.
   * @throws SpeechError `language_unsupported`, `language_undetermined`
   */
  finish(durationSeconds: number, options: RecognizerOptions): Promise<RecognizedSpeech>;
}

/**
 * Creates a recognizer for one recording. It holds words and scores, never samples.
 * @throws SpeechError `model_unusable` if there is no engine
 */
export function createRecognizer(engines: Engines): Recognizer {
  const { bundled, multilingual, bundledTakesEnglish, remedy } = engines;
  if (multilingual !== null) {
    return new MultilingualRecognizer(multilingual, bundledTakesEnglish ? bundled : null);
  }
  if (bundled !== null) return new EnglishRecognizer(bundled, remedy);
  throw new SpeechError("model_unusable", "There is no speech engine.");
}
