import type { Tensor } from "onnxruntime-node";
import { SAMPLE_RATE } from "../../media/audio.ts";
import {
  type DecodedSequence,
  decodeSequences,
  probabilitiesAfterStart,
} from "../../onnx/decode-sequences.ts";
import { concatRows, selectRows } from "../../onnx/tensors.ts";
import type { Utterance } from "../../vad/utterances.ts";
import type { Engine, LanguageProbabilities, RecognitionResult, RecognizeOptions } from "../engine.ts";
import { findPhraseLoop, repeatsPhrase } from "../phrase-loops.ts";
import { combineResults } from "../recognition-result.ts";
import { chooseSpelling, vocabularyPrompt } from "../vocabulary.ts";
import { LogMel } from "./log-mel.ts";
import { createLogitsProcessor, type LogitsProcessor, TIMESTAMP_STEP_SECONDS } from "./logits-processors.ts";
import { readWhisperModel, type WhisperModel } from "./model-files.ts";
import { openGraphs, type WhisperGraphs } from "./open-graphs.ts";
import { type Attempt, decodeWithFallback, isNoSpeech } from "./temperature-fallback.ts";
import { TextTokenizer } from "./tokens-of-text.ts";
import { type WordTimes, wordTimes } from "./word-times.ts";
import { wordsOfTokens } from "./words-of-tokens.ts";

/** Every utterance is followed by at least this much silence, so its last word is complete. */
const MARGIN_SECONDS = 0.5;

/**
 * If the reliable part of a text at the token limit ends before this position in the utterance, the text is a
 * hallucination, so decoding does not resume.
 */
const MIN_RESUME_SECONDS = 2;

const MAX_BATCH_ROWS = 16;
/**
 * Limits the caches and attention of a batch. A row needs 46 MB with `whisper-tiny` and 490 MB with `whisper-medium`. A
 * batch has at least one row, even if that row needs more: 0.8 GB with `whisper-large-v3`.
 */
export const MAX_BATCH_BYTES = 512 * 2 ** 20;

export interface WhisperOptions {
  /** Contains a model in the layout of `onnx-community` on Hugging Face. */
  folder: string;
  /** Threads per run. */
  threads: number;
  /** Batch size as a share of the maximum, to save memory; 1 by default. */
  batchShare?: number;
  /** Export of the graphs to use if there are several: `quantized`, `fp16`, … */
  variant?: string;
}

/** @throws SpeechError `model_unusable`, naming the file and the problem */
export async function openWhisper(options: WhisperOptions): Promise<Engine> {
  const { folder, threads, variant, batchShare = 1 } = options;
  const model = await readWhisperModel(folder, variant === undefined ? {} : { variant });
  return new Whisper(model, await openGraphs(model, threads), MAX_BATCH_BYTES * batchShare);
}

/**
 * Whisper (Radford et al. 2022) processes windows of a fixed length. Shorter audio is padded with silence. Text is not
 * passed on to the next utterance, because errors would be passed on too.
 */
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
  readonly #processLogits: LogitsProcessor;
  readonly #batchRows: number;
  #tokenizer: TextTokenizer | null = null;
  /** Encoder states, cached so that each utterance is encoded only once. */
  readonly #states = new WeakMap<Utterance, Tensor>();
  /** Detected languages, which `recognize` needs again. */
  readonly #detected = new WeakMap<Utterance, LanguageProbabilities>();

  constructor(model: WhisperModel, graphs: WhisperGraphs, maxBatchBytes: number) {
    const { tokens } = model;
    const isMultilingual = tokens.languages.size > 0;
    this.#model = model;
    this.#graphs = graphs;
    this.#logMel = new LogMel(model);
    this.#wordTimes = wordTimes(model, graphs.decoder.attentionLayers);
    const hasAttention = this.#wordTimes.heads.length > 0;
    // The alignment heads were selected for text without timestamps, which is also shorter. Timestamps are decoded only
    // if the decoder has no attention outputs, or if the model has no `<|notimestamps|>` token.
    this.#timestamps = tokens.firstTimestamp !== null && (!hasAttention || tokens.noTimestamps === null);
    this.#processLogits = createLogitsProcessor(model, this.#timestamps);
    const bytes = rowBytes({
      decoderLayers: model.decoderLayers,
      width: graphs.decoder.heads * graphs.decoder.headSize,
      encoderFrames: model.window.encoderFrames,
      maxTokens: model.maxTokens,
      storedHeads: this.#wordTimes.heads.length,
    });
    this.#batchRows = Math.min(MAX_BATCH_ROWS, Math.max(1, Math.floor(maxBatchBytes / bytes)));
    this.name = model.name;
    this.languages = isMultilingual ? [...tokens.languages.keys()] : ["en"];
    this.maxUtteranceSeconds = model.window.seconds - MARGIN_SECONDS;
    this.warnings = hasAttention
      ? []
      : [`${model.decoderPath} has no cross-attention outputs, so word times are only approximate.`];
    if (isMultilingual) {
      this.detectLanguages = (utterances, signal) => this.#detect(utterances, signal);
    }
  }

  async recognize(
    utterances: readonly Utterance[],
    { vocabulary = [], ...options }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    const results = await this.#recognize(utterances, options, []);
    const vocabularyTokens = this.#vocabularyTokens(vocabulary);
    const spoken = [...results.keys()].filter((index) => results[index]!.words.length > 0);
    if (vocabularyTokens.length === 0 || spoken.length === 0) return results;
    const prompted = await this.#recognize(
      spoken.map((index) => utterances[index]!),
      { ...options, languages: spoken.map((index) => results[index]!.language) },
      vocabularyTokens,
    );
    for (const [position, index] of spoken.entries()) {
      results[index] = chooseSpelling(results[index]!, prompted[position]!, vocabulary);
    }
    return results;
  }

  /** @param vocabularyTokens prompt of the vocabulary, which precedes the start token; may be empty */
  async #recognize(
    utterances: readonly Utterance[],
    { signal, languages }: RecognizeOptions,
    vocabularyTokens: readonly number[],
  ): Promise<RecognitionResult[]> {
    const results = new Map<Utterance, RecognitionResult>();
    const remainders = new Map<Utterance, Utterance>();
    const requested = new Map(utterances.map((utterance, index) => [utterance, languages?.[index] ?? null]));
    for (const batch of this.#batches(utterances)) {
      const batchLanguages = await this.#languagesOf(batch, requested, signal);
      const states = concatRows(await this.#encode(batch, signal));
      const attempts = await this.#decode(batch, {
        languages: batchLanguages,
        vocabularyTokens,
        states,
        signal,
      });
      for (const [row, utterance] of batch.entries()) {
        const attempt = attempts[row] as Attempt;
        const whole = this.#result(utterance, batchLanguages[row] ?? null, attempt);
        const { result, resumeAtSeconds } = this.#withinLimit(utterance, whole, attempt);
        results.set(utterance, result);
        if (resumeAtSeconds !== null) remainders.set(utterance, remainderOf(utterance, resumeAtSeconds));
      }
    }
    await this.#recognizeRemainders(results, remainders, signal, vocabularyTokens);
    return utterances.map((utterance) => results.get(utterance) as RecognitionResult);
  }

  /**
   * Returns the reliable part of a text that may have exceeded the token limit: its complete segments, or the text before
   * its last word if there are no timestamps. `resumeAtSeconds` is the position in the utterance at which to continue.
   * If nothing is missing, returns the whole result and null. Does the same if the position would be below
   * `MIN_RESUME_SECONDS`, because such a text is a hallucination that would recur.
   */
  #withinLimit(utterance: Utterance, whole: RecognitionResult, attempt: Attempt): WithinLimit {
    const { words } = whole;
    const { sequence } = attempt;
    const { tokens, tokenBytes } = this.#model;
    const unchanged = { result: whole, resumeAtSeconds: null };
    if (sequence.stop !== "limit" || isNoSpeech(attempt)) return unchanged;
    let resumeAtSeconds = (words.at(-1)?.start ?? utterance.start) - utterance.start;
    let kept = words.length - 1;
    if (this.#timestamps) {
      const { firstTimestamp } = tokens;
      const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp!;
      let last = sequence.tokens.findLastIndex(isTimestamp);
      // The second of two timestamps starts the incomplete segment. Its speech may begin earlier, so use the first.
      if (isTimestamp(sequence.tokens[last - 1])) last -= 1;
      resumeAtSeconds = last < 0 ? 0 : (sequence.tokens[last]! - firstTimestamp!) * TIMESTAMP_STEP_SECONDS;
      kept = wordsOfTokens(sequence.tokens.slice(0, last + 1), tokenBytes, whole.language).length;
    }
    if (resumeAtSeconds < MIN_RESUME_SECONDS) return unchanged;
    return { result: { ...whole, words: words.slice(0, kept), truncated: false }, resumeAtSeconds };
  }

  /** Adds the results for the remainders of utterances whose text exceeded the token limit. */
  async #recognizeRemainders(
    results: Map<Utterance, RecognitionResult>,
    remainders: ReadonlyMap<Utterance, Utterance>,
    signal: AbortSignal,
    vocabularyTokens: readonly number[],
  ): Promise<void> {
    if (remainders.size === 0) return;
    const languages = [...remainders.keys()].map((utterance) => results.get(utterance)!.language);
    const continued = await this.#recognize(
      [...remainders.values()],
      { signal, languages },
      vocabularyTokens,
    );
    for (const [index, utterance] of [...remainders.keys()].entries()) {
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
          new Map(codes.map((code, index) => [code, (probabilities[index] ?? 0) / sum])),
        );
      }
    }
    return utterances.map((utterance) => this.#detected.get(utterance)!);
  }

  /**
   * Returns the requested language of each utterance, or the most likely one if none is requested or the model does not
   * know it; null for a monolingual model.
   */
  async #languagesOf(
    utterances: readonly Utterance[],
    requested: ReadonlyMap<Utterance, string | null>,
    signal: AbortSignal,
  ): Promise<(string | null)[]> {
    const known = this.#model.tokens.languages;
    if (known.size === 0) return utterances.map(() => null);
    const isRequested = (utterance: Utterance) => known.has(requested.get(utterance) ?? "");
    await this.#detect(
      utterances.filter((utterance) => !isRequested(utterance)),
      signal,
    );
    return utterances.map((utterance) =>
      isRequested(utterance)
        ? (requested.get(utterance) ?? null)
        : mostLikely(this.#detected.get(utterance) ?? new Map()),
    );
  }

  /** Returns the encoder states of each utterance, `[1, frames, width]`. Batches would not be faster. */
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
    { languages, vocabularyTokens, states, signal }: DecodeBatch,
  ): Promise<Attempt[]> {
    const { tokens, tokenBytes, maxTokens } = this.#model;
    const decode = (rows: readonly number[], temperature: number): Promise<DecodedSequence[]> => {
      // A retry omits the vocabulary, which may have caused decoding to fail.
      const previous = temperature === 0 ? vocabularyTokens : [];
      const prompts = rows.map((row) => [...previous, ...this.#prompt(languages[row] ?? null)]);
      return decodeSequences(this.#graphs.decoder, {
        encoderStates: rows.length === utterances.length ? states : selectRows(states, rows),
        prompts,
        endToken: tokens.end,
        maxTokens: prompts.map((prompt) => Math.max(0, maxTokens - prompt.length)),
        attentionHeads: this.#wordTimes.heads,
        attentionFrames: rows.map((row) => this.#wordTimes.framesOf(utterances[row]?.samples.length ?? 0)),
        processLogits: this.#processLogits,
        ...(temperature > 0 && { sampling: { temperature, seed: Math.round(10 * temperature) } }),
        noSpeech: tokens.noSpeech === null ? null : { token: tokens.noSpeech, position: previous.length },
        signal,
      });
    };
    return decodeWithFallback(utterances.length, decode, {
      textOf: (chosen) =>
        Buffer.concat(chosen.map((token) => tokenBytes[token] ?? new Uint8Array(0))).toString(),
      isLoop: (row, sequence) => this.#isLoop(utterances[row]!, languages[row] ?? null, sequence),
    });
  }

  #isLoop(utterance: Utterance, language: string | null, sequence: DecodedSequence): boolean {
    const words = wordsOfTokens(sequence.tokens, this.#model.tokenBytes, language);
    if (!repeatsPhrase(words.map(({ text }) => ({ word: text })))) return false;
    const timed = this.#wordTimes.timed(utterance, sequence, words);
    return findPhraseLoop({ words: timed, truncated: sequence.stop !== "end" }) !== null;
  }

  /** Encodes as many terms as fit into half of `maxTokens`, as the text of an earlier window (`<|startofprev|>`). */
  #vocabularyTokens(vocabulary: readonly string[]): number[] {
    const { tokens, tokenBytes, maxTokens } = this.#model;
    if (tokens.previous === null || vocabulary.length === 0) return [];
    const limit = Math.floor(maxTokens / 2) - 1;
    this.#tokenizer ??= new TextTokenizer(tokenBytes);
    const encode = (prompt: string) => this.#tokenizer!.encode(` ${prompt}`);
    const prompt = vocabularyPrompt(vocabulary, (text) => encode(text).length <= limit);
    return prompt === "" ? [] : [tokens.previous, ...encode(prompt)];
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

interface DecodeBatch {
  languages: readonly (string | null)[];
  vocabularyTokens: readonly number[];
  states: Tensor;
  signal: AbortSignal;
}

interface WithinLimit {
  result: RecognitionResult;
  resumeAtSeconds: number | null;
}

function remainderOf({ samples, start }: Utterance, fromSeconds: number): Utterance {
  return { samples: samples.subarray(Math.round(fromSeconds * SAMPLE_RATE)), start: start + fromSeconds };
}

export interface RowShape {
  decoderLayers: number;
  /** Width of the decoder's states: heads × size of a head. */
  width: number;
  encoderFrames: number;
  maxTokens: number;
  /** Heads whose attention is stored. */
  storedHeads: number;
}

/**
 * Returns the maximum memory of a row of a batch: its cross-attention cache, its self-attention cache before and after
 * a step, and its stored attention.
 */
export function rowBytes(shape: RowShape): number {
  const { decoderLayers, width, encoderFrames, maxTokens, storedHeads } = shape;
  const caches = 2 * decoderLayers * width * (encoderFrames + 2 * maxTokens);
  return Float32Array.BYTES_PER_ELEMENT * (caches + storedHeads * encoderFrames * maxTokens);
}

function mostLikely(probabilities: LanguageProbabilities): string | null {
  return [...probabilities].reduce<[string | null, number]>(
    (best, [language, probability]) => (probability > best[1] ? [language, probability] : best),
    [null, Number.NEGATIVE_INFINITY],
  )[0];
}
