import type { Engine } from "../engines/engine.ts";
import { SpeechError } from "../errors.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { EnglishListener } from "./english-recognizer.ts";
import { MultilingualListener } from "./multilingual-recognizer.ts";
import type { Heard, ListenOptions } from "./recognized-speech.ts";

export interface Engines {
  /** Knows English only, and needs nothing but the package's own dependencies. */
  bundled: Engine | null;
  /** Whisper, or a server. A model of one language (`.en`) is taken at its word: its operator chose it. */
  multilingual: Engine | null;
  /**
   * Whether the bundled engine may take what is English beyond doubt: it hears English as well as this
   * multilingual one, and faster. Asks for a multilingual engine that detects languages before it hears.
   */
  bundledTakesEnglish: boolean;
  /** What helps where people speak a language that no engine here knows: a sentence for people. */
  remedy: string;
}

/** Turns the utterances of one recording into words: which language, which engine, which words. */
export interface Listener {
  /**
   * Hears the next utterances, in order of time. Keeps the last of them, a minute at most, until what
   * follows is there.
   * @throws SpeechError `language_unsupported` where it is plain that the rest need not be heard
   */
  hear(group: readonly SpokenUtterance[], options: ListenOptions): Promise<void>;
  /**
   * Hears what was kept.
   * @param durationSeconds Of the media.
   * @throws SpeechError `language_unsupported`
   */
  finish(durationSeconds: number, options: ListenOptions): Promise<Heard>;
}

/**
 * One for each recording. Of what was heard it keeps words and scores, never samples.
 * @throws SpeechError `model_unusable` where there is no engine
 */
export function createListener(engines: Engines): Listener {
  const { bundled, multilingual, bundledTakesEnglish, remedy } = engines;
  if (multilingual !== null) {
    return new MultilingualListener(multilingual, bundledTakesEnglish ? bundled : null);
  }
  if (bundled !== null) return new EnglishListener(bundled, remedy);
  throw new SpeechError("model_unusable", "There is no speech engine to listen with.");
}
