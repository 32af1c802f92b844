import { fitToPauses } from "../alignment/fit-words.ts";
import type { Engine, RecognitionResult } from "../engines/engine.ts";
import { withoutPhraseLoops } from "../engines/phrase-loops.ts";
import { combineResults } from "../engines/recognition-result.ts";
import {
  ENGLISH_PROBABILITY,
  type EnglishUtterances,
  findEnglishUtterances,
} from "../language/english-utterances.ts";
import { type LanguageDetector, languageDetector } from "../language/language-detector.ts";
import {
  type DetectedUtterance,
  type DetectLanguages,
  LanguageTracker,
  type LanguageUtterance,
} from "../language/language-tracker.ts";
import { roundToMs } from "../lib/round-to-ms.ts";
import type { TimedWord } from "../transcript.ts";
import { cutOut, endOf, inBatches, speechSeconds } from "../vad/utterance-parts.ts";
import type { SpokenUtterance } from "../vad/utterances.ts";
import { type RecognitionEvidence, repeatedHallucinations, withoutHallucination } from "./hallucinations.ts";
import {
  meanProbability,
  mostSpoken,
  type RecognizedSpeech,
  type RecognizerOptions,
  transcriptOf,
} from "./recognized-speech.ts";
import { type RecognizedUtterance, recognizedUtterance } from "./recognized-utterance.ts";

/** The language is `und` if its mean probability is lower and there are fewer words than people would say. */
const UNDETERMINED_PROBABILITY = 0.4;
const UNDETERMINED_WORDS_PER_SECOND = 0.7;

const NO_ENGLISH: EnglishUtterances = { accepted: new Map(), detected: new Map() };

interface WaitingBatch {
  utterances: readonly DetectedUtterance[];
  accepted: EnglishUtterances["accepted"];
  /** Seconds of the media. */
  start: number;
  end: number;
}

type UtteranceWithEvidence = RecognizedUtterance & RecognitionEvidence;

export class MultilingualRecognizer {
  readonly #engine: Engine;
  readonly #english: Engine | null;
  readonly #detector: LanguageDetector;
  readonly #tracker = new LanguageTracker();
  readonly #recognized: UtteranceWithEvidence[] = [];
  /** The last batch, whose language may depend on later utterances. */
  #waiting: WaitingBatch | null = null;
  #speechSeconds = 0;

  /** @param english engine for clearly English speech */
  constructor(engine: Engine, english: Engine | null) {
    this.#engine = engine;
    // Without language detection, the multilingual engine must transcribe everything anyway.
    this.#english = engine.detectLanguages === undefined ? null : english;
    this.#detector = languageDetector(engine);
  }

  get heldBackSeconds(): number {
    return this.#waiting === null ? 0 : this.#waiting.end - this.#waiting.start;
  }

  async recognize(group: readonly SpokenUtterance[], options: RecognizerOptions): Promise<void> {
    const detect = this.#detect(options);
    const english =
      this.#english === null
        ? NO_ENGLISH
        : await findEnglishUtterances(group, this.#english, detect, options.signal);
    for (const batch of inBatches(group, this.#detector.batch)) {
      const utterances = await detectRemaining(batch, english, detect);
      await this.#settleWaiting(utterances, options);
      this.#waiting = {
        utterances,
        accepted: english.accepted,
        start: batch[0]!.start,
        end: endOf(batch.at(-1)!),
      };
    }
  }

  async finish(durationSeconds: number, options: RecognizerOptions): Promise<RecognizedSpeech> {
    const { utterances, language, speechSeconds } = await this.finishUtterances(options);
    return { ...transcriptOf(utterances, durationSeconds), language, speechSeconds };
  }

  /** Recognizes the utterances that were held back, like `finish`, and returns all utterances with words. */
  async finishUtterances(options: RecognizerOptions) {
    await this.#settleWaiting([], options);
    const hallucinated = repeatedHallucinations(this.#recognized);
    const utterances: RecognizedUtterance[] = this.#recognized.filter((each) => !hallucinated.has(each));
    return {
      utterances,
      language: this.#isDetermined(utterances) ? (mostSpoken(utterances) ?? "zxx") : "und",
      speechSeconds: roundToMs(this.#speechSeconds),
    };
  }

  /** @param ahead later utterances */
  async #settleWaiting(ahead: readonly DetectedUtterance[], options: RecognizerOptions): Promise<void> {
    if (this.#waiting === null) return;
    const { utterances, accepted, end } = this.#waiting;
    this.#waiting = null;
    const settled = await this.#tracker.settle(utterances, ahead, this.#detect(options));
    await this.#recognizeSettled(settled, accepted, options.signal);
    options.onSettled(end);
  }

  #detect({ signal }: RecognizerOptions): DetectLanguages {
    return (utterances) => this.#detector.detect(utterances, signal);
  }

  async #recognizeSettled(
    settled: readonly LanguageUtterance[],
    accepted: EnglishUtterances["accepted"],
    signal: AbortSignal,
  ): Promise<void> {
    const results = new Map<LanguageUtterance, { result: RecognitionResult; engine: string }>();
    const remaining: LanguageUtterance[] = [];
    for (const each of settled) {
      const result = each.language === "en" ? accepted.get(each.utterance) : undefined;
      if (result !== undefined && this.#english !== null) {
        results.set(each, {
          result: withoutHallucination(result, speechSeconds(each.utterance)),
          engine: this.#english.name,
        });
      } else {
        remaining.push(each);
      }
    }
    const recognizedRemaining = await this.#recognizeAll(remaining, signal);
    for (const [index, each] of remaining.entries()) {
      results.set(each, { result: recognizedRemaining[index]!, engine: this.#engine.name });
    }
    for (const each of settled) {
      const { result, engine } = results.get(each)!;
      this.#keep(each, result, engine);
    }
  }

  /**
   * Recognizes utterances, and recognizes parts again if the engine missed speech. Results that are hallucinations have no
   * words. Each part is evaluated by its own statistics.
   */
  async #recognizeAll(
    settled: readonly LanguageUtterance[],
    signal: AbortSignal,
  ): Promise<RecognitionResult[]> {
    if (settled.length === 0) return [];
    const results = await this.#detector.recognize(
      settled.map(({ utterance }) => utterance),
      settled.map(({ language }) => language),
      signal,
    );
    const parts = settled.flatMap((whole, index) =>
      partsToRetry(whole.utterance, results[index]!.words).map((utterance) => ({
        ...whole,
        utterance,
        index,
      })),
    );
    const retried = new Map<number, RecognitionResult[]>();
    for (const [position, result] of (await this.#recognizeAll(parts, signal)).entries()) {
      const { index } = parts[position]!;
      if (result.words.length === 0) continue;
      retried.set(index, [...(retried.get(index) ?? []), result]);
    }
    return results.map((result, index) => {
      const again = combineResults(retried.get(index) ?? [result]);
      if (again.words.length > result.words.length) return again;
      return withoutHallucination(result, speechSeconds(settled[index]!.utterance));
    });
  }

  #keep(
    { utterance, language, probability }: LanguageUtterance,
    result: RecognitionResult,
    engine: string,
  ): void {
    this.#speechSeconds += speechSeconds(utterance);
    if (result.words.length === 0) return;
    const { meanLogProbability, compressionRatio, noSpeechProbability, truncated } = result;
    this.#recognized.push({
      ...recognizedUtterance(utterance, withoutPhraseLoops(result), {
        language: language ?? result.language ?? "und",
        probability,
        engine,
      }),
      meanLogProbability,
      compressionRatio,
      noSpeechProbability,
      truncated,
      ...(result.hasEstimatedTimes && { hasEstimatedTimes: true }),
    });
  }

  #isDetermined(recognized: readonly RecognizedUtterance[]): boolean {
    const words = recognized.reduce((sum, utterance) => sum + utterance.words.length, 0);
    return (
      meanProbability(recognized) >= UNDETERMINED_PROBABILITY ||
      words === 0 ||
      words >= UNDETERMINED_WORDS_PER_SECOND * this.#speechSeconds
    );
  }
}

async function detectRemaining(
  utterances: readonly SpokenUtterance[],
  english: EnglishUtterances,
  detect: DetectLanguages,
): Promise<DetectedUtterance[]> {
  const isKnown = (utterance: SpokenUtterance) =>
    english.accepted.has(utterance) || english.detected.has(utterance);
  const unknown = utterances.filter((utterance) => !isKnown(utterance));
  const settled = unknown.length === 0 ? [] : await detect(unknown);
  const probabilities = new Map(unknown.map((utterance, index) => [utterance, settled[index]!]));
  return utterances.map((utterance) => ({
    utterance,
    probabilities:
      english.detected.get(utterance) ??
      probabilities.get(utterance) ??
      new Map([["en", ENGLISH_PROBABILITY]]),
    isSingleLanguage: english.accepted.has(utterance),
  }));
}

/** Shorter spans may be coughs that were detected as speech. */
const MIN_SPEECH_SECONDS = 0.6;

/**
 * Hardly anyone speaks more slowly. If a span has fewer words, they probably belong to another span, and the sentence
 * spoken in this one is missing.
 */
const MIN_WORDS_PER_SECOND = 1;
/** A span with a single long word may be this long. */
const SLOW_WORD_SECONDS = 0.8;

/**
 * Models may skip a sentence, or stop at the end of a sentence although speech continues after a pause. If a span of
 * speech between pauses has too few words, returns the parts in which to recognize the utterance again. Returns an empty
 * array if no span or every span has too few words.
 */
export function partsToRetry(utterance: SpokenUtterance, words: readonly TimedWord[]): SpokenUtterance[] {
  const { speech } = utterance;
  const fitted = fitToPauses(words, speech);
  const hasWords = speech.map((span) => {
    const count = fitted.filter(({ start, end }) => start < span.end && end > span.start).length;
    return count > 0 && count >= MIN_WORDS_PER_SECOND * (span.end - span.start - SLOW_WORD_SECONDS);
  });
  if (!hasWords.includes(true)) return [];
  const runs: { from: number; to: number; hasWords: boolean }[] = [];
  for (const [index, spanHasWords] of hasWords.entries()) {
    const last = runs.at(-1);
    if (last?.hasWords === spanHasWords) last.to = index + 1;
    else runs.push({ from: index, to: index + 1, hasWords: spanHasWords });
  }
  const parts = runs.map(({ from, to, ...run }) => ({
    ...run,
    part: cutOut({ whole: utterance, from, to }),
  }));
  const isMissing = parts.some(
    ({ part, ...run }) => !run.hasWords && speechSeconds(part) >= MIN_SPEECH_SECONDS,
  );
  return isMissing ? parts.map(({ part }) => part) : [];
}
