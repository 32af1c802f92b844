import { InferenceSession, Tensor } from "onnxruntime-node";
import { alignTokens } from "../../alignment/align-tokens.ts";
import { type FrameLayout, quietFrames } from "../../alignment/loudness.ts";
import { mean, timedWords } from "../../alignment/timed-words.ts";
import { SpeechError } from "../../errors.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import { type DecodedSequence, decodeSequences } from "../../onnx/decode-sequences.ts";
import { type AttentionHead, describeDecoder, type Seq2SeqDecoder } from "../../onnx/seq2seq-decoder.ts";
import { release, selectRows } from "../../onnx/tensors.ts";
import { SAMPLING_TEMPERATURES } from "../../onnx/token-selection.ts";
import type { Utterance } from "../../vad/utterances.ts";
import type { Engine, RecognitionResult, RecognizeOptions } from "../engine.ts";
import { findPhraseLoop } from "../phrase-loops.ts";
import { compressionRatio } from "../recognition-result.ts";
import type { MoonshineModel } from "./model.ts";
import { moonshinePaths } from "./model-paths.ts";
import { spelledWords } from "./sentence-piece.ts";
import { wordOnsets } from "./word-onsets.ts";

/** The encoder's three convolutions output a frame every 384 samples (24 ms). */
const FRAMES: FrameLayout = { length: 384, offset: 256 };
const START_TOKEN = 1;
const END_TOKEN = 2;
/** The limit of the model's authors. More tokens per second of speech indicate a loop. */
const TOKENS_PER_SECOND = 6.5;
const SPARE_TOKENS = 6;
/** The encoder outputs no frames for shorter audio. */
const MIN_SAMPLES = 4_000;

const MAX_BATCH = 16;
/** Limits the memory of a batch, which grows with rows × length. Larger batches are hardly faster. */
const MAX_BATCH_SECONDS = 100;
const MAX_PADDED_RATIO = 1.7;

/**
 * The heads that attend most to the word that is spoken. They were selected by the likelihood of the true words of
 * synthetic speech, and checked on real speech.
 */
const ALIGNMENT_HEADS: readonly AttentionHead[] = [
  { layer: 3, head: 5 },
  { layer: 5, head: 6 },
  { layer: 5, head: 7 },
];

export interface MoonshineOptions {
  /** A promise is awaited only after the encoder has been loaded. */
  model: MoonshineModel | Promise<MoonshineModel>;
  /** Threads per run. */
  threads: number;
  /** Batch size as a share of the maximum, to save memory; 1 by default. */
  batchShare?: number;
}

/** @throws SpeechError `model_unusable` if the model's files are damaged */
export async function openMoonshine({ model, threads, batchShare = 1 }: MoonshineOptions): Promise<Engine> {
  const options = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // The runtime's memory arena never shrinks, and it saves no time here.
    enableCpuMemArena: false,
  };
  // Without spinning, a run needs half the CPU time, and less wall-clock time if other work is running.
  const intra_op = { allow_spinning: "0" };
  try {
    const encoder = await InferenceSession.create(moonshinePaths().encoderPath, {
      ...options,
      extra: { session: { intra_op } },
    });
    const { decoder: graph, pieces } = await model;
    const decoder = await InferenceSession.create(graph, {
      ...options,
      // Unpacks the quantized output projection once, on load, instead of for every token.
      extra: { session: { disable_quant_qdq: "1", intra_op } },
    });
    return new Moonshine(encoder, describeDecoder(decoder), pieces, MAX_BATCH_SECONDS * batchShare);
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The moonshine model cannot be loaded.", { cause: error });
  }
}

class Moonshine implements Engine {
  readonly name = "moonshine-tiny";
  readonly languages = ["en"];
  readonly maxUtteranceSeconds = 30;
  readonly #encoder: InferenceSession;
  readonly #decoder: Seq2SeqDecoder;
  readonly #pieces: readonly string[];
  readonly #maxBatchSeconds: number;

  constructor(
    encoder: InferenceSession,
    decoder: Seq2SeqDecoder,
    pieces: readonly string[],
    maxBatchSeconds: number,
  ) {
    this.#maxBatchSeconds = maxBatchSeconds;
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#pieces = pieces;
  }

  async recognize(
    utterances: readonly Utterance[],
    { signal }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    const results = new Map<Utterance, RecognitionResult>();
    for (const batch of batchesOfSimilarLength(utterances, this.#maxBatchSeconds)) {
      signal.throwIfAborted();
      const encoderStates = await this.#encode(batch, signal);
      let looping: number[] = [];
      for (const [row, result] of (await this.#decode(batch, encoderStates, 0, signal)).entries()) {
        results.set(batch[row]!, result);
        if (findPhraseLoop(result) !== null) looping.push(row);
      }
      for (const temperature of SAMPLING_TEMPERATURES) {
        if (looping.length === 0) break;
        const states = selectRows(encoderStates, looping);
        const loopingUtterances = looping.map((row) => batch[row]!);
        const again = await this.#decode(loopingUtterances, states, temperature, signal);
        release([states]);
        looping = looping.filter((row, index) => {
          if (findPhraseLoop(again[index]!) !== null) return true;
          results.set(batch[row]!, again[index]!);
          return false;
        });
      }
      release([encoderStates]);
    }
    return utterances.map((utterance) => results.get(utterance) as RecognitionResult);
  }

  /** Decodes greedily at temperature 0, else by sampling. */
  async #decode(
    utterances: readonly Utterance[],
    encoderStates: Tensor,
    temperature: number,
    signal: AbortSignal,
  ): Promise<RecognitionResult[]> {
    const sequences = await decodeSequences(this.#decoder, {
      encoderStates,
      prompts: utterances.map(() => [START_TOKEN]),
      endToken: END_TOKEN,
      maxTokens: utterances.map(
        ({ samples }) => SPARE_TOKENS + Math.ceil((samples.length / SAMPLE_RATE) * TOKENS_PER_SECOND),
      ),
      attentionHeads: ALIGNMENT_HEADS,
      ...(temperature > 0 && { sampling: { temperature, seed: Math.round(10 * temperature) } }),
      signal,
    });
    const states = encoderStates.data as Float32Array;
    const statesPerRow = states.length / utterances.length;
    const results = utterances.map((utterance, row) =>
      this.#result(utterance, sequences[row]!, states.subarray(row * statesPerRow, (row + 1) * statesPerRow)),
    );
    release(sequences.map(({ attention }) => attention));
    return results;
  }

  /**
   * Encodes each utterance and pads the states with zeros to the length of the longest. The encoder has no mask, and
   * silence appended to the samples would change the words, so utterances are encoded one at a time, which costs little.
   */
  async #encode(utterances: readonly Utterance[], signal: AbortSignal): Promise<Tensor> {
    const encoded: Tensor[] = [];
    for (const { samples } of utterances) {
      signal.throwIfAborted();
      const padded = new Float32Array(Math.max(MIN_SAMPLES, samples.length));
      padded.set(samples);
      const input = new Tensor("float32", padded, [1, padded.length]);
      try {
        const { last_hidden_state: states } = await this.#encoder.run({ input_values: input });
        if (!states) throw new Error("there is no output last_hidden_state");
        encoded.push(states);
      } catch (error) {
        throw new SpeechError("model_unusable", "The encoder model cannot be run.", { cause: error });
      }
    }
    const width = encoded[0]?.dims[2] ?? 0;
    const frames = Math.max(...encoded.map(({ dims }) => dims[1] ?? 0));
    const states = new Float32Array(encoded.length * frames * width);
    for (const [row, { data }] of encoded.entries()) states.set(data as Float32Array, row * frames * width);
    release(encoded);
    return new Tensor("float32", states, [encoded.length, frames, width]);
  }

  /** @param states the encoder's output, `[frames, width]` */
  #result({ samples, start }: Utterance, sequence: DecodedSequence, states: Float32Array): RecognitionResult {
    const pieces = sequence.tokens.map((token) => this.#pieces[token] ?? "");
    const words = spelledWords(pieces);
    const wordStarts = new Set(words.map(({ firstToken }) => firstToken));
    const frames = Math.min(sequence.frames, Math.max(1, Math.floor(samples.length / FRAMES.length) - 1));
    const spans = alignTokens({
      attention: sequence.attention,
      steps: sequence.steps,
      frames,
      attentionFrames: sequence.frames,
      wordStarts: Array.from({ length: sequence.steps }, (_, step) => wordStarts.has(step)),
      quiet: quietFrames(samples, frames, FRAMES),
      onsets: wordOnsets(states, frames),
      letters: Array.from({ length: sequence.steps }, (_, step) => letterCount(pieces[step] ?? "")),
    });
    return {
      words: timedWords({
        words,
        spans,
        logProbabilities: sequence.logProbabilities,
        start,
        seconds: samples.length / SAMPLE_RATE,
        secondsPerFrame: FRAMES.length / SAMPLE_RATE,
        correction: FRAMES.offset / SAMPLE_RATE,
      }),
      language: null,
      noSpeechProbability: null,
      meanLogProbability: mean(sequence.logProbabilities),
      compressionRatio: compressionRatio(words.map(({ text }) => text).join(" ")),
      truncated: sequence.stop !== "end",
    };
  }

  async close(): Promise<void> {
    await this.#encoder.release();
    await this.#decoder.session.release();
  }
}

function letterCount(piece: string): number {
  return piece.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/**
 * The decoder has no mask, so it attends to padding. On 200 synthetic utterances, padding to twice the length did no
 * harm, but three times the length added two errors per 100 words.
 */
function batchesOfSimilarLength(utterances: readonly Utterance[], maxSeconds: number): Utterance[][] {
  const batches: Utterance[][] = [];
  const longestFirst = utterances.toSorted((a, b) => b.samples.length - a.samples.length);
  for (const utterance of longestFirst) {
    const batch = batches.at(-1);
    const longest = batch?.[0]?.samples.length ?? 0;
    const fits =
      batch !== undefined &&
      batch.length < MAX_BATCH &&
      (batch.length + 1) * longest <= maxSeconds * SAMPLE_RATE &&
      utterance.samples.length * MAX_PADDED_RATIO >= longest;
    if (fits) batch.push(utterance);
    else batches.push([utterance]);
  }
  return batches;
}
