import { combineHearings } from "../engines/combined-hearing.ts";
import type { Engine, Hearing } from "../engines/engine.ts";
import { ENGLISH_PROBABILITY, type EnglishShare, englishShare } from "../language/english-utterances.ts";
import { type LanguageTeller, languageTeller } from "../language/language-detector.ts";
import {
  type DetectedUtterance,
  type DetectLanguages,
  LanguageTracker,
  type ToldUtterance,
} from "../language/language-tracker.ts";
import { inBatches } from "../vad/batches.ts";
import { endOf, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { type HearingEvidence, isInvented, repeatedInventions } from "./hallucinations.ts";
import { partsToHearAgain } from "./missed-speech.ts";
import {
  type Heard,
  type HeardUtterance,
  heardUtterance,
  type ListenOptions,
  meanProbability,
  milliseconds,
  mostSpoken,
  transcriptOf,
} from "./recognized-speech.ts";

/**
 * No language can be told of a recording where the likeliest path is less likely than this in the mean and
 * people seem to say fewer words than people do.
 */
const UNTELLABLE_PROBABILITY = 0.4;
const UNTELLABLE_WORDS_PER_SECOND = 0.7;

const NO_SHARE: EnglishShare = { taken: new Map(), detected: new Map() };

interface WaitingBatch {
  utterances: readonly DetectedUtterance[];
  taken: EnglishShare["taken"];
  /** Second of the media at which it ends. */
  end: number;
}

type HeardWithEvidence = HeardUtterance & HearingEvidence;

/** Listens with an engine of many languages, beside one that knows English only where there is such a one. */
export class MultilingualListener {
  readonly #engine: Engine;
  readonly #english: Engine | null;
  readonly #teller: LanguageTeller;
  readonly #tracker = new LanguageTracker();
  readonly #heard: HeardWithEvidence[] = [];
  /** The last batch: what follows it may tell its language. */
  #waiting: WaitingBatch | null = null;
  #voiced = 0;

  /** @param english Takes what is in English beyond doubt. */
  constructor(engine: Engine, english: Engine | null) {
    this.#engine = engine;
    // Without detection the other engine would have to hear all of it anyway.
    this.#english = engine.detectLanguages === undefined ? null : english;
    this.#teller = languageTeller(engine);
  }

  async hear(group: readonly SpokenUtterance[], options: ListenOptions): Promise<void> {
    const detect = this.#detect(options);
    const share =
      this.#english === null ? NO_SHARE : await englishShare(group, this.#english, detect, options.signal);
    for (const batch of inBatches(group, this.#teller.batch)) {
      const utterances = await detected(batch, share, detect);
      await this.#settleWaiting(utterances, options);
      this.#waiting = { utterances, taken: share.taken, end: endOf(batch.at(-1)!) };
    }
  }

  async finish(durationSeconds: number, options: ListenOptions): Promise<Heard> {
    await this.#settleWaiting([], options);
    const invented = repeatedInventions(this.#heard);
    const heard = this.#heard.filter((utterance) => !invented.has(utterance));
    return {
      ...transcriptOf(heard, durationSeconds),
      language: this.#isTellable(heard) ? (mostSpoken(heard) ?? "zxx") : "und",
      voiced: milliseconds(this.#voiced),
    };
  }

  /** @param ahead What follows. */
  async #settleWaiting(ahead: readonly DetectedUtterance[], options: ListenOptions): Promise<void> {
    if (this.#waiting === null) return;
    const { utterances, taken, end } = this.#waiting;
    this.#waiting = null;
    const told = await this.#tracker.settle(utterances, ahead, this.#detect(options));
    await this.#write(told, taken, options.signal);
    options.onHeard(end);
  }

  #detect({ signal }: ListenOptions): DetectLanguages {
    return (utterances) => this.#teller.tell(utterances, signal);
  }

  async #write(
    told: readonly ToldUtterance[],
    taken: EnglishShare["taken"],
    signal: AbortSignal,
  ): Promise<void> {
    const hearings = new Map<ToldUtterance, { hearing: Hearing; engine: string }>();
    const toHear: ToldUtterance[] = [];
    for (const one of told) {
      const hearing = one.language === "en" ? taken.get(one.utterance) : undefined;
      if (hearing !== undefined && this.#english !== null) {
        hearings.set(one, { hearing, engine: this.#english.name });
      } else {
        toHear.push(one);
      }
    }
    const written = await this.#hearAll(toHear, signal);
    for (const [index, one] of toHear.entries()) {
      hearings.set(one, { hearing: written[index]!, engine: this.#engine.name });
    }
    for (const one of told) {
      const { hearing, engine } = hearings.get(one)!;
      this.#keep(one, hearing, engine);
    }
  }

  /** Hears what an engine left out once more, in parts. */
  async #hearAll(told: readonly ToldUtterance[], signal: AbortSignal): Promise<Hearing[]> {
    if (told.length === 0) return [];
    const hearings = await this.#teller.write(
      told.map(({ utterance }) => utterance),
      told.map(({ language }) => language),
      signal,
    );
    const parts = told.flatMap((whole, index) =>
      partsToHearAgain(whole.utterance, hearings[index]!.words).map((utterance) => ({
        ...whole,
        utterance,
        index,
      })),
    );
    const inParts = new Map<number, Hearing[]>();
    for (const [place, hearing] of (await this.#hearAll(parts, signal)).entries()) {
      const { utterance, index } = parts[place]!;
      if (isInvented(hearing, speechSeconds(utterance))) continue;
      inParts.set(index, [...(inParts.get(index) ?? []), hearing]);
    }
    for (const [index, recognized] of inParts) {
      const again = combineHearings(recognized);
      if (again.words.length > hearings[index]!.words.length) hearings[index] = again;
    }
    return hearings;
  }

  #keep({ utterance, language, probability }: ToldUtterance, hearing: Hearing, engine: string): void {
    const seconds = speechSeconds(utterance);
    this.#voiced += seconds;
    if (hearing.words.length === 0 || isInvented(hearing, seconds)) return;
    const { meanLogProbability, compressionRatio, noSpeechProbability, cutOff } = hearing;
    this.#heard.push({
      ...heardUtterance(utterance, hearing.words, {
        language: language ?? hearing.language ?? "und",
        probability,
        engine,
      }),
      meanLogProbability,
      compressionRatio,
      noSpeechProbability,
      cutOff,
    });
  }

  #isTellable(heard: readonly HeardUtterance[]): boolean {
    const words = heard.reduce((sum, utterance) => sum + utterance.words.length, 0);
    return (
      meanProbability(heard) >= UNTELLABLE_PROBABILITY ||
      words === 0 ||
      words >= UNTELLABLE_WORDS_PER_SECOND * this.#voiced
    );
  }
}

async function detected(
  utterances: readonly SpokenUtterance[],
  share: EnglishShare,
  detect: DetectLanguages,
): Promise<DetectedUtterance[]> {
  const isKnown = (utterance: SpokenUtterance) => share.taken.has(utterance) || share.detected.has(utterance);
  const unknown = utterances.filter((utterance) => !isKnown(utterance));
  const told = unknown.length === 0 ? [] : await detect(unknown);
  const probabilities = new Map(unknown.map((utterance, index) => [utterance, told[index]!]));
  return utterances.map((utterance) => ({
    utterance,
    probabilities:
      share.detected.get(utterance) ?? probabilities.get(utterance) ?? new Map([["en", ENGLISH_PROBABILITY]]),
    isPure: share.taken.has(utterance),
  }));
}
