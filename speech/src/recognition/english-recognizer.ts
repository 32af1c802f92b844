import { mean } from "../alignment/timed-words.ts";
import type { Engine, Hearing } from "../engines/engine.ts";
import { SpeechError } from "../errors.ts";
import { EnglishEvidence, englishScore, soundEvidence } from "../language/english-evidence.ts";
import { inBatches } from "../vad/batches.ts";
import { endOf } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import {
  type Heard,
  type HeardUtterance,
  heardUtterance,
  type ListenOptions,
  milliseconds,
  transcriptOf,
} from "./recognized-speech.ts";

/** At this score an engine makes words up: of laughter, of music, of a few seconds of another language. */
const MADE_UP_SCORE = -1;
/** In a recording that may be in another language, only what is heard as well as English is taken for words. */
const DOUBTFUL_SCORE = -0.55;
/** Heard in about two seconds; larger batches fill all cores. */
const BATCH = { utterances: 32, speechSeconds: 240 };

/** Listens with an engine that knows English only, and tells by its unsureness what is not English. */
export class EnglishListener {
  readonly #engine: Engine;
  readonly #remedy: string;
  readonly #evidence = new EnglishEvidence();
  readonly #heard: { score: number; utterance: HeardUtterance }[] = [];
  #voiced = 0;

  constructor(engine: Engine, remedy: string) {
    this.#engine = engine;
    this.#remedy = remedy;
  }

  async hear(group: readonly SpokenUtterance[], { signal, onHeard }: ListenOptions): Promise<void> {
    for (const batch of inBatches(group, BATCH)) {
      const hearings = await this.#engine.hear(batch, { signal });
      for (const [index, utterance] of batch.entries()) this.#add(utterance, hearings[index]!);
      onHeard(endOf(batch.at(-1)!));
    }
  }

  async finish(durationSeconds: number): Promise<Heard> {
    const voiced = milliseconds(this.#voiced);
    const verdict = this.#evidence.verdict();
    if (verdict === "other") throw this.#notEnglish();
    const limit = verdict === "english" ? MADE_UP_SCORE : DOUBTFUL_SCORE;
    const kept = this.#heard.filter(({ score }) => score > limit);
    const somebodySpeaks = this.#heard.length > 0 || this.#evidence.peopleSpeak;
    const language = somebodySpeaks ? (verdict === "english" ? "en" : "und") : "zxx";
    const utterances = kept.map(({ utterance }) => ({ ...utterance, language }));
    return { ...transcriptOf(utterances, durationSeconds), language, voiced };
  }

  #add(utterance: SpokenUtterance, hearing: Hearing): void {
    const sound = soundEvidence(utterance);
    this.#voiced += sound.seconds;
    this.#evidence.add(hearing, sound);
    if (this.#evidence.isHopeless()) throw this.#notEnglish();
    if (hearing.words.length === 0) return;
    this.#heard.push({
      score: englishScore(hearing, sound.seconds),
      utterance: heardUtterance(utterance, hearing.words, {
        language: "en",
        probability: mean(hearing.words.map(({ confidence }) => confidence)),
        engine: this.#engine.name,
      }),
    });
  }

  #notEnglish(): SpeechError {
    return new SpeechError(
      "language_unsupported",
      `People speak another language than English, the only one that the bundled engine (${this.#engine.name}) ` +
        `knows. ${this.#remedy}`,
    );
  }
}
