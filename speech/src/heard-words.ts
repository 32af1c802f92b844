import type { Hearing } from "./engine.ts";
import { EnglishEvidence, englishScore } from "./english-evidence.ts";
import { SpeechError } from "./errors.ts";
import type { TimedWord } from "./transcript.ts";
import type { SpokenUtterance } from "./utterances.ts";
import { fitToPauses, inOrder } from "./word-times.ts";

/** At this score an engine makes words up: of laughter, of music, of a few seconds of another language. */
const MADE_UP_SCORE = -1;
/** In a recording that may be in another language, only what is heard as well as English is taken for words. */
const DOUBTFUL_SCORE = -0.55;

/** What an engine that knows English only has heard in a recording so far. */
export class HeardWords {
  readonly #engineName: string;
  readonly #evidence = new EnglishEvidence();
  readonly #heard: { words: TimedWord[]; score: number }[] = [];
  #voiced = 0;

  constructor(engineName: string) {
    this.#engineName = engineName;
  }

  /** @throws SpeechError `language_unsupported` where it is plain that the rest need not be heard */
  add({ speech }: SpokenUtterance, hearing: Hearing): void {
    const seconds = speech.reduce((sum, { start, end }) => sum + end - start, 0);
    this.#voiced += seconds;
    this.#evidence.add(hearing, seconds);
    if (this.#evidence.isHopeless()) throw this.#notEnglish();
    if (hearing.words.length === 0) return;
    this.#heard.push({
      words: fitToPauses(hearing.words, speech),
      score: englishScore(hearing, seconds),
    });
  }

  /** Seconds in which somebody speaks, 3 decimals. */
  get voiced(): number {
    return Math.round(this.#voiced * 1000) / 1000;
  }

  /**
   * Without what the engine made up.
   * @param duration Seconds of the media.
   */
  words(duration: number): TimedWord[] {
    const limit = this.#evidence.verdict() === "english" ? MADE_UP_SCORE : DOUBTFUL_SCORE;
    const kept = this.#heard.filter(({ score }) => score > limit);
    return inOrder(
      kept.flatMap(({ words }) => words),
      duration,
    );
  }

  /**
   * `zxx` where no words were heard; `und` where they may be English or not.
   * @throws SpeechError `language_unsupported`
   */
  language(): "en" | "und" | "zxx" {
    if (this.#heard.length === 0) return "zxx";
    const verdict = this.#evidence.verdict();
    if (verdict === "other") throw this.#notEnglish();
    return verdict === "english" ? "en" : "und";
  }

  #notEnglish(): SpeechError {
    return new SpeechError(
      "language_unsupported",
      `People speak another language than English, the only one that the bundled engine (${this.#engineName}) ` +
        "knows. Install a multilingual model and transcribe the recording again.",
    );
  }
}
