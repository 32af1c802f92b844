import type { Engine } from "../engines/engine.ts";
import { SpeechError } from "../errors.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { EnglishRecognizer } from "./english-recognizer.ts";
import { MultilingualRecognizer } from "./multilingual-recognizer.ts";
import {
  mostSpoken,
  type RecognizedSpeech,
  type RecognizerOptions,
  transcriptOf,
} from "./recognized-speech.ts";

export interface Engines {
  /** Supports only English. */
  bundled: Engine | null;
  /** Whisper or a server. If its model supports only one language (`.en`), the language of the speech is not verified. */
  multilingual: Engine | null;
  /**
   * Whether the bundled engine transcribes clearly English speech, because it is as accurate and faster. Requires a
   * multilingual engine that detects languages before it transcribes.
   */
  bundledTakesEnglish: boolean;
  /** What users can do if no engine supports the spoken language. Empty with a multilingual engine. */
  remedy: string;
}

/** Recognizes the utterances of one recording. Chooses languages and engines, and removes hallucinations. */
export interface Recognizer {
  /** Seconds of the media that are held back, as `recognize` describes. */
  readonly heldBackSeconds: number;
  /**
   * Recognizes the next utterances in chronological order. The last batch of utterances may be held back, because their
   * language can depend on later ones.
   * @throws SpeechError `language_unsupported` as soon as it is certain
   */
  recognize(group: readonly SpokenUtterance[], options: RecognizerOptions): Promise<void>;
  /**
   * Recognizes the utterances that were held back.
   * @param durationSeconds duration of the media
   * @throws SpeechError `language_unsupported`, `language_undetermined`
   */
  finish(durationSeconds: number, options: RecognizerOptions): Promise<RecognizedSpeech>;
}

/**
 * Creates a recognizer for one recording.
 * @param hasChannels whether each utterance has a channel
 * @throws SpeechError `model_unusable` if there is no engine
 */
export function createRecognizer(engines: Engines, hasChannels = false): Recognizer {
  const { bundled, multilingual, bundledTakesEnglish, remedy } = engines;
  if (multilingual !== null) {
    const create = () => new MultilingualRecognizer(multilingual, bundledTakesEnglish ? bundled : null);
    return hasChannels ? new ChannelRecognizer([create(), create()]) : create();
  }
  if (bundled !== null) return new EnglishRecognizer(bundled, remedy);
  throw new SpeechError("model_unusable", "There is no speech engine.");
}

/**
 * Recognizes a recording with one speaker per channel. Each channel has its own recognizer, because speakers may speak
 * different languages, and a speaker's language depends on what the same speaker says before and after.
 */
class ChannelRecognizer {
  readonly #channels: readonly { recognizer: MultilingualRecognizer; settledSeconds: number }[];

  constructor(recognizers: readonly [MultilingualRecognizer, MultilingualRecognizer]) {
    this.#channels = recognizers.map((recognizer) => ({ recognizer, settledSeconds: 0 }));
  }

  get heldBackSeconds(): number {
    const seconds = this.#channels.map(({ recognizer }) => recognizer.heldBackSeconds);
    return seconds.reduce((sum, each) => sum + each) / seconds.length;
  }

  async recognize(group: readonly SpokenUtterance[], options: RecognizerOptions): Promise<void> {
    for (const [index, { recognizer }] of this.#channels.entries()) {
      const utterances = group.filter(({ channel }) => channel === index + 1);
      await recognizer.recognize(utterances, this.#optionsOf(index, options));
    }
  }

  async finish(durationSeconds: number, options: RecognizerOptions): Promise<RecognizedSpeech> {
    const finished = [];
    for (const [index, { recognizer }] of this.#channels.entries()) {
      finished.push(await recognizer.finishUtterances(this.#optionsOf(index, options)));
    }
    // A channel whose language is undetermined counts as a language of its own.
    const languages = finished.flatMap(({ utterances, language }) =>
      language === "und" ? utterances.map((utterance) => ({ ...utterance, language })) : utterances,
    );
    return {
      ...transcriptOf(
        finished.flatMap(({ utterances }) => utterances),
        durationSeconds,
      ),
      language:
        mostSpoken(languages) ?? (finished.some(({ language }) => language === "und") ? "und" : "zxx"),
      speechSeconds: roundToMs(finished.reduce((sum, { speechSeconds }) => sum + speechSeconds, 0)),
    };
  }

  /** Half of the work is done when one channel is settled and the other is not. */
  #optionsOf(index: number, { signal, onSettled }: RecognizerOptions): RecognizerOptions {
    return {
      signal,
      onSettled: (settledSeconds) => {
        this.#channels[index]!.settledSeconds = settledSeconds;
        const total = this.#channels.reduce((sum, channel) => sum + channel.settledSeconds, 0);
        onSettled(total / this.#channels.length);
      },
    };
  }
}
