import { roundToMs } from "../lib/round-to-ms.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import type { MultilingualRecognizer } from "./multilingual-recognizer.ts";
import {
  mostSpoken,
  type RecognizedSpeech,
  type RecognizerOptions,
  transcriptOf,
} from "./recognized-speech.ts";

/**
 * Recognizes a recording with one speaker per channel. Each channel has its own recognizer, because speakers may speak
 * different languages, and a speaker's language depends on what the same speaker says before and after.
 */
export class ChannelRecognizer {
  readonly #channels: readonly { recognizer: MultilingualRecognizer; settledSeconds: number }[];

  constructor(recognizers: readonly [MultilingualRecognizer, MultilingualRecognizer]) {
    this.#channels = recognizers.map((recognizer) => ({ recognizer, settledSeconds: 0 }));
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
