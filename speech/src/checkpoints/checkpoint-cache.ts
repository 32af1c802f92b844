import type { Engine, HearOptions, Utterance } from "../engines/engine.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { SAMPLE_RATE, WINDOW_SAMPLES } from "../vad/voice-activity.ts";
import { type Answers, type KeptStretch, readAnswers, writeAnswers } from "./checkpoint.ts";

type Score = (samples: Float32Array, preceding: Float32Array) => Promise<Float32Array>;

/**
 * What the models of one recording have answered. A transcript follows from the samples and these answers
 * alone, so work that ended in the middle goes on to the same words from whichever answers of it were kept,
 * and what weighs the whole recording (languages, evidence) needs no state of its own. An answer is its
 * engine's: another engine is asked anew.
 */
export class AnswerBook {
  /** Seconds of the media up to which answers were kept. */
  readonly settledSeconds: number;
  readonly #speech: Map<number, Float32Array>;
  readonly #hearings: Map<string, Answers["hearings"][number][1]>;
  readonly #languages: Map<string, Answers["languages"][number][1]>;
  readonly #keeps: boolean;
  #new = noAnswers();

  /**
   * @param kept What was kept of work on the same recording.
   * @param keeps Whether new answers are to be kept; else none is held.
   */
  constructor(kept: readonly KeptStretch[], { keeps }: { keeps: boolean }) {
    this.#keeps = keeps;
    const readable = kept.flatMap(({ settledSeconds, answers }) => {
      const read = readAnswers(answers);
      return read === null ? [] : [{ settledSeconds, ...read }];
    });
    this.settledSeconds = Math.max(0, ...readable.map(({ settledSeconds }) => settledSeconds));
    this.#speech = new Map(readable.flatMap(({ speech }) => speech));
    this.#hearings = new Map(readable.flatMap(({ hearings }) => hearings));
    this.#languages = new Map(readable.flatMap(({ languages }) => languages));
  }

  /** Voice activity that is asked only for blocks without an answer. @param score Called block by block, from the first. */
  scores(score: Score): Score {
    let blocks = 0;
    return async (samples, preceding) => {
      const block = blocks++;
      const known = taken(this.#speech, block);
      if (known?.length === samples.length / WINDOW_SAMPLES) return known;
      const probabilities = await score(samples, preceding);
      if (this.#keeps) this.#new.speech.push([block, probabilities]);
      return probabilities;
    };
  }

  /** Engines that are asked only what has no answer. */
  engines({ bundled, multilingual, ...engines }: Engines): Engines {
    return {
      ...engines,
      bundled: bundled && this.#engine(bundled),
      multilingual: multilingual && this.#engine(multilingual),
    };
  }

  /** The answers since the last call, for whoever keeps them; null where there are none. */
  takeNew(settledSeconds: number): KeptStretch | null {
    const answers = this.#new;
    if (Object.values(answers).every(({ length }) => length === 0)) return null;
    this.#new = noAnswers();
    return { settledSeconds, answers: writeAnswers(answers) };
  }

  #engine(engine: Engine): Engine {
    const { name, languages, maxUtteranceSeconds, warnings } = engine;
    return {
      name,
      languages,
      maxUtteranceSeconds,
      ...(warnings && { warnings }),
      hear: (utterances, options) => this.#hear(engine, utterances, options),
      ...(engine.detectLanguages && {
        detectLanguages: (utterances, signal) => this.#detect(engine, utterances, signal),
      }),
      close: () => engine.close(),
    };
  }

  #hear(engine: Engine, utterances: readonly Utterance[], { signal, languages }: HearOptions) {
    const questions = utterances.map((utterance, place) =>
      [...question(engine, utterance), languages?.[place] ?? ""].join(" "),
    );
    const ask = (places: readonly number[]) =>
      engine.hear(
        places.map((place) => utterances[place]!),
        { signal, ...(languages && { languages: places.map((place) => languages[place] ?? null) }) },
      );
    return this.#answer("hearings", questions, this.#hearings, ask);
  }

  #detect(engine: Engine, utterances: readonly Utterance[], signal: AbortSignal) {
    const questions = utterances.map((utterance) => question(engine, utterance).join(" "));
    const ask = (places: readonly number[]) =>
      engine.detectLanguages!(
        places.map((place) => utterances[place]!),
        signal,
      );
    return this.#answer("languages", questions, this.#languages, ask);
  }

  /** One answer for each question; those without one are asked together. */
  async #answer<Kind extends "hearings" | "languages">(
    kind: Kind,
    questions: readonly string[],
    known: Map<string, Answers[Kind][number][1]>,
    ask: (places: readonly number[]) => Promise<Answers[Kind][number][1][]>,
  ): Promise<Answers[Kind][number][1][]> {
    const answers = questions.map((each) => taken(known, each));
    const unknown = [...answers.keys()].filter((place) => answers[place] === undefined);
    const given = unknown.length === 0 ? [] : await ask(unknown);
    for (const [index, place] of unknown.entries()) {
      const answer = given[index]!;
      answers[place] = answer;
      if (this.#keeps) (this.#new[kind] as [string, typeof answer][]).push([questions[place]!, answer]);
    }
    return answers as Answers[Kind][number][1][];
  }
}

function noAnswers(): Answers {
  return { speech: [], hearings: [], languages: [] };
}

function question({ name }: Engine, { start, samples }: Utterance): (string | number)[] {
  return [name, Math.round(start * SAMPLE_RATE), samples.length];
}

/** Nothing is asked twice, so that its memory can be given back. */
function taken<Key, Answer>(known: Map<Key, Answer>, key: Key): Answer | undefined {
  const answer = known.get(key);
  known.delete(key);
  return answer;
}
