import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { LlamaTokenizer } from "llama-tokenizer-js";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { alignTokens } from "../alignment.ts";
import type { Engine, Hearing, Utterance } from "../engine.ts";
import { SpeechError } from "../errors.ts";
import { addCrossAttentionOutputs } from "../onnx/graph.ts";
import {
  type AttentionHead,
  type DecodedSequence,
  decodeGreedy,
  describeDecoder,
  type Seq2SeqDecoder,
} from "../onnx/seq2seq.ts";
import { spelledWords } from "../sentence-piece.ts";
import type { TimedWord } from "../transcript.ts";

/**
 * Moonshine tiny: English speech to text in 27 M parameters. It takes samples as they are, of any length;
 * its encoder gives a frame every 24 ms.
 */

const SAMPLE_RATE = 16_000;
const FRAME_SECONDS = 384 / SAMPLE_RATE;
const START_TOKEN = 1;
const END_TOKEN = 2;
const DECODER_LAYERS = 6;
/** From the model's authors: more than this for a second of speech is a loop. */
const TOKENS_PER_SECOND = 6.5;
const MIN_TOKENS = 6;
/** Shorter sounds give the encoder no frame. */
const MIN_SAMPLES = 4_000;
const MIN_WORD_SECONDS = 0.03;

const ALIGNMENT_HEADS: readonly AttentionHead[] = [3, 4].flatMap((layer) =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((head) => ({ layer, head })),
);

export interface MoonshineOptions {
  /** Threads that one run may use. */
  threads: number;
}

/** @throws SpeechError `model_unusable` where the model's package is missing or its files are damaged. */
export async function openMoonshine(options: MoonshineOptions): Promise<Engine> {
  try {
    const folder = modelFolder();
    const sessionOptions = { intraOpNumThreads: options.threads, interOpNumThreads: 1 };
    const encoder = await InferenceSession.create(join(folder, "encoder_model.onnx"), sessionOptions);
    const model = addCrossAttentionOutputs(
      await readFile(join(folder, "decoder_model_merged.onnx")),
      Array.from(
        { length: DECODER_LAYERS },
        (_, layer) => `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`,
      ),
    );
    const session = await InferenceSession.create(model, {
      ...sessionOptions,
      // Lets the quantised output projection be unpacked once at load rather than at every token.
      extra: { session: { disable_quant_qdq: "1" } },
    });
    return new Moonshine(encoder, describeDecoder(session), new LlamaTokenizer().vocabById);
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The moonshine model cannot be loaded.", { cause: error });
  }
}

function modelFolder(): string {
  const entry = import.meta.resolve("@moonshine-ai/moonshine-js");
  return fileURLToPath(new URL("model/tiny/quantized/", entry));
}

class Moonshine implements Engine {
  readonly name = "moonshine-tiny";
  readonly languages = ["en"];
  readonly maxUtteranceSeconds = 30;
  readonly batchSize = 10;
  readonly #encoder: InferenceSession;
  readonly #decoder: Seq2SeqDecoder;
  readonly #pieces: readonly string[];

  constructor(encoder: InferenceSession, decoder: Seq2SeqDecoder, pieces: readonly string[]) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#pieces = pieces;
  }

  async hear(utterances: readonly Utterance[], signal: AbortSignal): Promise<Hearing[]> {
    if (utterances.length === 0) return [];
    signal.throwIfAborted();
    const sequences = await decodeGreedy(this.#decoder, {
      encoderStates: await this.#encode(utterances),
      prompt: [START_TOKEN],
      endToken: END_TOKEN,
      maxTokens: utterances.map(({ samples }) =>
        Math.max(MIN_TOKENS, Math.ceil((samples.length / SAMPLE_RATE) * TOKENS_PER_SECOND)),
      ),
      attentionHeads: ALIGNMENT_HEADS,
      signal,
    });
    return sequences.map((sequence, index) => this.#hearing(utterances[index] as Utterance, sequence));
  }

  async #encode(utterances: readonly Utterance[]): Promise<Tensor> {
    const length = Math.max(MIN_SAMPLES, ...utterances.map(({ samples }) => samples.length));
    const batch = new Float32Array(utterances.length * length);
    for (const [row, { samples }] of utterances.entries()) batch.set(samples, row * length);
    const outputs = await this.#encoder.run({
      input_values: new Tensor("float32", batch, [utterances.length, length]),
    });
    const states = outputs.last_hidden_state;
    if (!states) throw new SpeechError("model_unusable", "The encoder gave no states.");
    return states;
  }

  #hearing(utterance: Utterance, sequence: DecodedSequence): Hearing {
    const spans = alignTokens(sequence);
    const seconds = utterance.samples.length / SAMPLE_RATE;
    const spelled = spelledWords(sequence.tokens.map((token) => this.#pieces[token] ?? ""));
    const words: TimedWord[] = [];
    for (const { text, firstToken, endToken } of spelled) {
      const previousEnd = words.at(-1)?.end ?? utterance.start;
      const last = utterance.start + seconds;
      const start = Math.min(
        last,
        Math.max(previousEnd, utterance.start + (spans[firstToken]?.start ?? 0) * FRAME_SECONDS),
      );
      const end = Math.min(
        last,
        Math.max(start + MIN_WORD_SECONDS, utterance.start + (spans[endToken - 1]?.end ?? 0) * FRAME_SECONDS),
      );
      const confidence = Math.exp(mean(sequence.logProbabilities.slice(firstToken, endToken)));
      words.push({ word: text, start, end, confidence });
    }
    return {
      words,
      meanLogProbability: mean(sequence.logProbabilities),
      compressionRatio: compressionRatio(spelled.map(({ text }) => text).join(" ")),
      cutOff: sequence.stop !== "end",
    };
  }

  async close(): Promise<void> {
    await this.#encoder.release();
    await this.#decoder.session.release();
  }
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function compressionRatio(text: string): number {
  if (text === "") return 1;
  const bytes = Buffer.from(text);
  return bytes.length / deflateRawSync(bytes).length;
}
