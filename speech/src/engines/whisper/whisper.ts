import type { Tensor } from "onnxruntime-node";
import { SAMPLE_RATE } from "../../media/audio.ts";
import {
  type DecodedSequence,
  decodeSequences,
  probabilitiesAfterStart,
} from "../../onnx/decode-sequences.ts";
import type { Seq2SeqDecoder } from "../../onnx/seq2seq-decoder.ts";
import { concatRows, selectRows } from "../../onnx/tensors.ts";
import type { Utterance } from "../../vad/utterances.ts";
import type { Engine, LanguageProbabilities, RecognitionResult, RecognizeOptions } from "../engine.ts";
import { findPhraseLoop, repeatsPhrase } from "../phrase-loops.ts";
import { combineResults } from "../recognition-result.ts";
import { LogMel } from "./log-mel.ts";
import { createLogitsProcessor, type LogitsProcessor, TIMESTAMP_STEP_SECONDS } from "./logits-processors.ts";
import { readWhisperModel, type WhisperModel } from "./model-files.ts";
import { openGraphs, type WhisperGraphs } from "./open-graphs.ts";
import { type Attempt, decodeWithFallback, isNoSpeech } from "./temperature-fallback.ts";
import { type WordTimes, wordTimes } from "./word-times.ts";
import { wordsOfTokens } from "./words-of-tokens.ts";

/**
 * Whisper (Radford et al. 2022): speech to text in about a hundred languages, with language detection. It
 * processes windows of a fixed length; shorter audio is padded with silence. No text is carried over from one
 * utterance to the next, because errors would be carried over too.
 */

/** Silence appended to every utterance, so that its last word is complete. */
const MARGIN_SECONDS = 0.5;

/** A text that exceeds the token limit in less time than this is not speech. */
const MIN_CONTINUED_SECONDS = 2;

const MAX_BATCH = 16;
/** Bounds the caches of a batch: 18 MB per row for the tiny model and 490 MB for the largest. */
const MAX_BATCH_BYTES = 512 * 2 ** 20;

export interface WhisperOptions {
  /** Contains the model's files in the layout of the hub's ONNX community. */
  folder: string;
  /** Threads per run. */
  threads: number;
  /** Share of a full batch, to save memory; 1 by default. */
  batchShare?: number;
  /** Which export of the graphs to use if there are several: `quantized`, `fp16`, … */
  variant?: string;
}

/** @throws SpeechError `model_unusable`, naming the file and what is wrong with it. */
export async function openWhisper(options: WhisperOptions): Promise<Engine> {
  const { folder, threads, variant, batchShare = 1 } = options;
  const model = await readWhisperModel(folder, variant === undefined ? {} : { variant });
  return new Whisper(model, await openGraphs(model, threads), MAX_BATCH_BYTES * batchShare);
}

class Whisper implements Engine {
  readonly name: string;
  readonly languages: readonly string[];
  readonly maxUtteranceSeconds: number;
  readonly warnings: readonly string[];
  readonly detectLanguages?: NonNullable<Engine["detectLanguages"]>;
  readonly #model: WhisperModel;
  readonly #graphs: WhisperGraphs;
  readonly #logMel: LogMel;
  readonly #wordTimes: WordTimes;
  readonly #timestamps: boolean;
  readonly #rules: LogitsProcessor;
  readonly #batchRows: number;
  /** Encoder states and languages of utterances that still exist, so that each is encoded once. */
  readonly #states = new WeakMap<Utterance, Tensor>();
  readonly #detected = new WeakMap<Utterance, LanguageProbabilities>();

  constructor(model: WhisperModel, graphs: WhisperGraphs, maxBatchBytes: number) {
    const { tokens } = model;
    const isMultilingual = tokens.languages.size > 0;
    this.#model = model;
    this.#graphs = graphs;
    this.#logMel = new LogMel(model);
    this.#wordTimes = wordTimes(model, graphs.decoder.attentionLayers);
    const hasAttention = this.#wordTimes.heads.length > 0;
    // Attention follows time in texts without timestamps, for which the heads were selected; such texts are
    // shorter too. Timestamps are used if there is no attention.
    this.#timestamps = tokens.firstTimestamp !== null && (!hasAttention || tokens.noTimestamps === null);
    this.#rules = createLogitsProcessor(model, this.#timestamps);
    this.#batchRows = rowsWithin(maxBatchBytes, {
      model,
      decoder: graphs.decoder,
      heads: this.#wordTimes.heads.length,
    });
    this.name = model.name;
    this.languages = isMultilingual ? [...tokens.languages.keys()] : ["en"];
    this.maxUtteranceSeconds = model.window.seconds - MARGIN_SECONDS;
    this.warnings = hasAttention
      ? []
      : [`${model.decoderPath} shows no cross-attention: word times are about right only.`];
    if (isMultilingual) {
      this.detectLanguages = (utterances, signal) => this.#detect(utterances, signal);
    }
  }

  async recognize(
    utterances: readonly Utterance[],
    { signal, languages }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    const results = new Map<Utterance, RecognitionResult>();
    const rests = new Map<Utterance, Utterance>();
    const wanted = new Map(utterances.map((utterance, index) => [utterance, languages?.[index] ?? null]));
    for (const batch of this.#batches(utterances)) {
      const detected = await this.#languagesOf(batch, wanted, signal);
      const states = concatRows(await this.#encode(batch, signal));
      const attempts = await this.#decode(batch, detected, states, signal);
      for (const [row, utterance] of batch.entries()) {
        const attempt = attempts[row] as Attempt;
        const whole = this.#result(utterance, detected[row] ?? null, attempt);
        const { reliable, restSeconds } = this.#withinLimit(utterance, whole, attempt);
        results.set(utterance, reliable);
        if (restSeconds !== null) rests.set(utterance, restOf(utterance, restSeconds));
      }
    }
    await this.#continue(results, rests, signal);
    return utterances.map((utterance) => results.get(utterance) as RecognitionResult);
  }

  /**
   * The reliable part of a text that may have exceeded the token limit: all before its last timestamp or, in a text
   * without timestamps, before its last word.
   * @returns `restSeconds`: where recognition has to continue in the utterance. Null if nothing is missing, or if
   * the text does not advance, as in a hallucination: the rest would be recognized the same way.
   */
  #withinLimit(utterance: Utterance, whole: RecognitionResult, { sequence }: Attempt): WithinLimit {
    const { words } = whole;
    const { tokens, tokenBytes } = this.#model;
    const complete = { reliable: whole, restSeconds: null };
    if (sequence.stop !== "limit") return complete;
    let restSeconds = (words.at(-1)?.start ?? utterance.start) - utterance.start;
    let kept = words.length - 1;
    if (this.#timestamps) {
      const { firstTimestamp } = tokens;
      const last = sequence.tokens.findLastIndex((token) => token >= (firstTimestamp ?? Infinity));
      restSeconds = last < 0 ? 0 : (sequence.tokens[last]! - firstTimestamp!) * TIMESTAMP_STEP_SECONDS;
      kept = wordsOfTokens(sequence.tokens.slice(0, last + 1), tokenBytes, whole.language).length;
    }
    if (restSeconds < MIN_CONTINUED_SECONDS) return complete;
    return { reliable: { ...whole, words: words.slice(0, kept), truncated: false }, restSeconds };
  }

  /** Recognizes the remainders of utterances whose text exceeded the token limit. */
  async #continue(
    results: Map<Utterance, RecognitionResult>,
    rests: ReadonlyMap<Utterance, Utterance>,
    signal: AbortSignal,
  ): Promise<void> {
    if (rests.size === 0) return;
    const languages = [...rests.keys()].map((utterance) => results.get(utterance)!.language);
    const continued = await this.recognize([...rests.values()], { signal, languages });
    for (const [index, utterance] of [...rests.keys()].entries()) {
      results.set(utterance, combineResults([results.get(utterance)!, continued[index]!]));
    }
  }

  /** Groups utterances of similar length, because a batch takes as long as its longest text. */
  #batches(utterances: readonly Utterance[]): Utterance[][] {
    const longestFirst = utterances.toSorted((a, b) => b.samples.length - a.samples.length);
    return Array.from({ length: Math.ceil(longestFirst.length / this.#batchRows) }, (_, index) =>
      longestFirst.slice(index * this.#batchRows, (index + 1) * this.#batchRows),
    );
  }

  async #detect(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]> {
    const { tokens } = this.#model;
    const codes = [...tokens.languages.keys()];
    const undetected = [...new Set(utterances)].filter((utterance) => !this.#detected.has(utterance));
    for (const batch of this.#batches(undetected)) {
      const states = concatRows(await this.#encode(batch, signal));
      const rows = await probabilitiesAfterStart(this.#graphs.decoder, {
        encoderStates: states,
        startToken: tokens.start,
        tokens: [...tokens.languages.values()],
      });
      for (const [row, utterance] of batch.entries()) {
        const probabilities = rows[row] ?? [];
        const sum = probabilities.reduce((total, probability) => total + probability, 0) || 1;
        this.#detected.set(
          utterance,
          new Map(codes.map((code, place) => [code, (probabilities[place] ?? 0) / sum])),
        );
      }
    }
    return utterances.map((utterance) => this.#detected.get(utterance) ?? new Map());
  }

  /** The requested or else the most likely detected languages; null for a model of one language. */
  async #languagesOf(
    utterances: readonly Utterance[],
    wanted: ReadonlyMap<Utterance, string | null>,
    signal: AbortSignal,
  ): Promise<(string | null)[]> {
    const known = this.#model.tokens.languages;
    if (known.size === 0) return utterances.map(() => null);
    const isRequested = (utterance: Utterance) => known.has(wanted.get(utterance) ?? "");
    await this.#detect(
      utterances.filter((utterance) => !isRequested(utterance)),
      signal,
    );
    return utterances.map((utterance) =>
      isRequested(utterance)
        ? (wanted.get(utterance) ?? null)
        : mostLikely(this.#detected.get(utterance) ?? new Map()),
    );
  }

  /** Encoder states of each, `[1, frames, width]`. One at a time: a batch would not be faster. */
  async #encode(utterances: readonly Utterance[], signal: AbortSignal): Promise<Tensor[]> {
    const encoded: Tensor[] = [];
    for (const utterance of utterances) {
      signal.throwIfAborted();
      const states =
        this.#states.get(utterance) ?? (await this.#graphs.encode(this.#logMel.compute(utterance.samples)));
      this.#states.set(utterance, states);
      encoded.push(states);
    }
    return encoded;
  }

  #decode(
    utterances: readonly Utterance[],
    languages: readonly (string | null)[],
    states: Tensor,
    signal: AbortSignal,
  ): Promise<Attempt[]> {
    const { tokens, tokenBytes, maxTokens } = this.#model;
    const prompts = languages.map((language) => this.#prompt(language));
    const decode = (rows: readonly number[], temperature: number): Promise<DecodedSequence[]> =>
      decodeSequences(this.#graphs.decoder, {
        encoderStates: rows.length === utterances.length ? states : selectRows(states, rows),
        prompts: rows.map((row) => prompts[row] ?? []),
        endToken: tokens.end,
        maxTokens: rows.map((row) => Math.max(0, maxTokens - (prompts[row]?.length ?? 0))),
        attentionHeads: this.#wordTimes.heads,
        attentionFrames: rows.map((row) => this.#wordTimes.framesOf(utterances[row]?.samples.length ?? 0)),
        processLogits: this.#rules,
        ...(temperature > 0 && { sampling: { temperature, seed: Math.round(10 * temperature) } }),
        noSpeechToken: tokens.noSpeech,
        signal,
      });
    return decodeWithFallback(utterances.length, decode, {
      textOf: (chosen) =>
        Buffer.concat(chosen.map((token) => tokenBytes[token] ?? new Uint8Array(0))).toString(),
      runsInLoop: (row, sequence) => this.#runsInLoop(utterances[row]!, languages[row] ?? null, sequence),
    });
  }

  #runsInLoop(utterance: Utterance, language: string | null, sequence: DecodedSequence): boolean {
    const words = wordsOfTokens(sequence.tokens, this.#model.tokenBytes, language);
    if (!repeatsPhrase(words.map(({ text }) => ({ word: text })))) return false;
    const timed = this.#wordTimes.timed(utterance, sequence, words);
    return findPhraseLoop({ words: timed, truncated: sequence.stop !== "end" }) !== null;
  }

  #prompt(language: string | null): number[] {
    const { tokens } = this.#model;
    const languageToken = language === null ? undefined : tokens.languages.get(language);
    return [
      tokens.start,
      languageToken,
      languageToken === undefined ? undefined : tokens.transcribe,
      this.#timestamps ? undefined : tokens.noTimestamps,
    ].filter((token) => typeof token === "number");
  }

  #result(utterance: Utterance, language: string | null, attempt: Attempt): RecognitionResult {
    const { sequence, meanLogProbability, compressionRatio } = attempt;
    const isSilent = utterance.samples.length === 0 || isNoSpeech(attempt);
    const words = isSilent ? [] : wordsOfTokens(sequence.tokens, this.#model.tokenBytes, language);
    return {
      words: words.length === 0 ? [] : this.#wordTimes.timed(utterance, sequence, words),
      language,
      meanLogProbability,
      compressionRatio,
      noSpeechProbability: sequence.noSpeechProbability,
      truncated: sequence.stop !== "end",
    };
  }

  close(): Promise<void> {
    return this.#graphs.close();
  }
}

interface WithinLimit {
  reliable: RecognitionResult;
  restSeconds: number | null;
}

function restOf({ samples, start }: Utterance, fromSeconds: number): Utterance {
  return { samples: samples.subarray(Math.round(fromSeconds * SAMPLE_RATE)), start: start + fromSeconds };
}

/** Number of rows in a batch: each needs its caches (before and after a step) and its attention. */
function rowsWithin(bytes: number, { model, decoder, heads }: BatchShape): number {
  const { encoderFrames } = model.window;
  const floatsOfFrame = decoder.caches.length * 0.5 * decoder.heads * decoder.headSize;
  const caches = floatsOfFrame * (encoderFrames + 2 * model.maxTokens);
  const attention = heads * encoderFrames * model.maxTokens;
  return Math.min(MAX_BATCH, Math.max(1, Math.floor(bytes / (4 * (caches + attention)))));
}

interface BatchShape {
  model: WhisperModel;
  decoder: Seq2SeqDecoder;
  /** Number of heads whose attention is kept. */
  heads: number;
}

function mostLikely(probabilities: LanguageProbabilities): string | null {
  return [...probabilities].reduce<[string | null, number]>(
    (best, [language, probability]) => (probability > best[1] ? [language, probability] : best),
    [null, Number.NEGATIVE_INFINITY],
  )[0];
}
