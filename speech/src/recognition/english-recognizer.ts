import { mean } from "../alignment/timed-words.ts";
import type { Engine, RecognitionResult } from "../engines/engine.ts";
import { withoutPhraseLoops } from "../engines/phrase-loops.ts";
import { SpeechError } from "../errors.ts";
import { EnglishEvidence, englishScore, soundEvidence } from "../language/english-evidence.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import { endOf, inBatches } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { type RecognizedSpeech, type RecognizerOptions, transcriptOf } from "./recognized-speech.ts";
import { type RecognizedUtterance, recognizedUtterance } from "./recognized-utterance.ts";

/** Utterances with this score or less are hallucinations: laughter, music or a few seconds of another language. */
const HALLUCINATION_SCORE = -1;
/** If it is unknown whether a recording is English, only utterances above this score are accepted. */
const ACCEPTED_SCORE = -0.55;
/** Replaces `ACCEPTED_SCORE` if another language is likely, whose utterances score up to −0.40. */
const CLEARLY_ACCEPTED_SCORE = -0.35;
/** With less certain speech, a recording without accepted words counts as noise or as too short to classify. */
const CLEAR_SPEECH_SECONDS = 3;
/** A batch takes about two seconds and is large enough to use all cores. */
const BATCH = { utterances: 32, speechSeconds: 240 };

/** Recognizes with an English-only engine. Rejects other languages based on the engine's low confidence. */
export class EnglishRecognizer {
  readonly heldBackSeconds = 0;
  readonly #engine: Engine;
  readonly #remedy: string;
  readonly #evidence = new EnglishEvidence();
  readonly #recognized: { score: number; utterance: RecognizedUtterance }[] = [];
  #speechSeconds = 0;

  constructor(engine: Engine, remedy: string) {
    this.#engine = engine;
    this.#remedy = remedy;
  }

  async recognize(
    group: readonly SpokenUtterance[],
    { signal, onSettled }: RecognizerOptions,
  ): Promise<void> {
    for (const batch of inBatches(group, BATCH)) {
      const results = await this.#engine.recognize(batch, { signal });
      for (const [index, utterance] of batch.entries()) this.#add(utterance, results[index]!);
      onSettled(endOf(batch.at(-1)!));
    }
  }

  async finish(durationSeconds: number): Promise<RecognizedSpeech> {
    const speech = roundToMs(this.#speechSeconds);
    const classification = this.#evidence.classify();
    if (classification === "other") throw this.#notEnglish();
    const accepted = this.#evidence.resemblesOther ? CLEARLY_ACCEPTED_SCORE : ACCEPTED_SCORE;
    const limit = classification === "english" ? HALLUCINATION_SCORE : accepted;
    const kept = this.#recognized.filter(({ score }) => score > limit);
    if (kept.length === 0 && this.#evidence.certainSeconds >= CLEAR_SPEECH_SECONDS)
      throw this.#undetermined();
    const hasSpeech = this.#recognized.length > 0 || this.#evidence.hasSpeech;
    const language = hasSpeech ? (classification === "english" ? "en" : "und") : "zxx";
    const utterances = kept.map(({ utterance }) => ({ ...utterance, language }));
    return { ...transcriptOf(utterances, durationSeconds), language, speechSeconds: speech };
  }

  #add(utterance: SpokenUtterance, result: RecognitionResult): void {
    const sound = soundEvidence(utterance);
    this.#speechSeconds += sound.seconds;
    this.#evidence.add(result, sound);
    if (this.#evidence.isCertainlyOther()) throw this.#notEnglish();
    if (result.words.length === 0) return;
    this.#recognized.push({
      score: englishScore(result, sound.seconds),
      utterance: recognizedUtterance(utterance, withoutPhraseLoops(result), {
        language: "en",
        probability: mean(result.words.map(({ confidence }) => confidence)),
        engine: this.#engine.name,
      }),
    });
  }

  #undetermined(): SpeechError {
    return new SpeechError(
      "language_undetermined",
      `Speech was detected, but the bundled engine (${this.#engine.name}), which supports only English, recognized ` +
        `nothing with confidence. ${this.#remedy}`,
    );
  }

  #notEnglish(): SpeechError {
    return new SpeechError(
      "language_unsupported",
      `The spoken language is not English, the only language that the bundled engine (${this.#engine.name}) ` +
        `supports. ${this.#remedy}`,
    );
  }
}
