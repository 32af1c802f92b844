import type { Tensor } from "onnxruntime-node";
import { lengthBeforeLoop } from "./repetition-loops.ts";
import {
  type AttentionHead,
  emptyCache,
  runStep,
  type Seq2SeqDecoder,
  type StepOutput,
} from "./seq2seq-decoder.ts";
import { asFloats, release, selectRows } from "./tensors.ts";
import { chooseToken, probabilitiesOf, seededRandom, type TokenChoice } from "./token-selection.ts";

/**
 * Batched decoding of encoder-decoder speech models with a key/value cache: the loop for every model exported
 * as `encoder_model.onnx` and `decoder_model_merged.onnx` (Optimum's layout). Differences between models
 * (layers, heads, vocabulary, precision) are read from the session.
 */

export interface DecodeOptions {
  /** `[rows, frames, width]`, as output by the encoder. */
  encoderStates: Tensor;
  /** Tokens that each row starts with, equally many; not part of the result. */
  prompts: readonly (readonly number[])[];
  endToken: number;
  /** Maximum number of tokens for each row. */
  maxTokens: readonly number[];
  /** Heads whose cross-attention is needed; their layers need `cross_attentions.N` outputs. */
  attentionHeads: readonly AttentionHead[];
  /** How many frames of it are needed for each row; all if omitted. */
  attentionFrames?: readonly number[];
  /** Sets the logits of tokens that are not allowed next to −∞, given the tokens so far. */
  processLogits?: (logits: Float32Array, tokens: readonly number[]) => void;
  /** Samples tokens. Each row uses the same seed, so the rest of the batch has no influence. */
  sampling?: { temperature: number; seed: number };
  /** Token whose probability after the prompt's first token is needed. */
  noSpeechToken?: number | null;
  signal: AbortSignal;
}

export interface DecodedSequence {
  /** Without the prompt and the end token. */
  tokens: number[];
  /** Natural log-probability of each token, at temperature 1. */
  logProbabilities: number[];
  /** The same of the end token; null if decoding stopped for another reason. */
  endLogProbability: number | null;
  /** Null if not requested. */
  noSpeechProbability: number | null;
  /**
   * Why decoding stopped: end token, token limit, or a repetition loop (of which `tokens` keeps the first
   * repetition).
   */
  stop: "end" | "limit" | "loop";
  /**
   * Cross-attention, `[steps, heads, frames]` in one array, heads in the requested order. Step i chose token
   * i; if `stop` is `end`, one more step chose the end token.
   */
  attention: Float32Array;
  steps: number;
  frames: number;
}

/** State of one row while the batch is decoded. */
interface Row {
  maxTokens: number;
  frames: number;
  random: () => number;
  tokens: number[];
  logProbabilities: number[];
  endLogProbability: number | null;
  noSpeechProbability: number | null;
  /** `[steps, heads, frames]` so far, with spare capacity. */
  attention: Float32Array;
  steps: number;
  stop: DecodedSequence["stop"] | null;
}

const KEEP_ROWS_SHARE = 0.6;
/** Initial capacity; half a minute of speech has about as many tokens. */
const STEPS_AT_FIRST = 80;

/**
 * Decodes all rows together, each to its own end.
 * @returns One sequence for each row of `encoderStates`, in the same order.
 * @throws SpeechError `model_unusable` if the model's output contradicts its metadata; the signal's reason if
 * it is aborted
 */
export async function decodeSequences(
  decoder: Seq2SeqDecoder,
  options: DecodeOptions,
): Promise<DecodedSequence[]> {
  const { prompts, attentionHeads, sampling } = options;
  const frames = options.encoderStates.dims[1] ?? 0;
  const rows = options.maxTokens.map(
    (maxTokens, row): Row => ({
      maxTokens,
      frames: Math.min(frames, options.attentionFrames?.[row] ?? frames),
      random: seededRandom(sampling?.seed ?? 0),
      tokens: [],
      logProbabilities: [],
      endLogProbability: null,
      noSpeechProbability: null,
      attention: new Float32Array(0),
      steps: 0,
      stop: maxTokens > 0 ? null : "limit",
    }),
  );
  let active = [...rows];
  let encoderStates = asFloats(options.encoderStates, decoder.statesType);
  let cache = emptyCache(decoder, rows.length);
  let inputTokens = prompts;
  let cached = false;

  try {
    while (active.some((row) => !row.stop)) {
      options.signal.throwIfAborted();
      const step = await runStep(decoder, {
        inputTokens,
        encoderStates,
        cache,
        cached,
        attentionHeads,
      });
      cache = step.cache;
      for (const [place, row] of active.entries()) {
        if (!cached && typeof options.noSpeechToken === "number") {
          const first = step.logits(place, 0);
          row.noSpeechProbability = probabilitiesOf(first, [options.noSpeechToken])[0] ?? null;
        }
        if (row.stop) continue;
        const choice = chosen(step, place, row, options);
        step.copyAttention(place, row.frames, nextAttention(row, attentionHeads.length));
        advance(row, choice, options.endToken);
      }
      step.release();
      cached = true;

      // Finished rows still cost time; removing them costs a copy of the caches.
      const unfinished = [...active.keys()].filter((place) => !active[place]?.stop);
      if (unfinished.length > 0 && unfinished.length <= active.length * KEEP_ROWS_SHARE) {
        active = unfinished.map((place) => active[place] as Row);
        encoderStates = selectRows(encoderStates, unfinished);
        const all = Object.values(cache);
        cache = Object.fromEntries(
          Object.entries(cache).map(([name, tensor]) => [name, selectRows(tensor, unfinished)]),
        );
        release(all);
      }
      inputTokens = active.map((row) => [row.tokens.at(-1) ?? options.endToken]);
    }
  } finally {
    release(Object.values(cache));
  }
  return rows.map((row) => finish(row, attentionHeads.length * row.frames));
}

export interface FirstStep {
  /** `[rows, frames, width]`, as output by the encoder. */
  encoderStates: Tensor;
  startToken: number;
  /** Tokens whose probabilities are needed. */
  tokens: readonly number[];
}

/** Returns the probabilities of the given tokens after the first token of each row. */
export async function probabilitiesAfterStart(
  decoder: Seq2SeqDecoder,
  { encoderStates, startToken, tokens }: FirstStep,
): Promise<number[][]> {
  const rows = encoderStates.dims[0] ?? 0;
  const step = await runStep(decoder, {
    inputTokens: Array.from({ length: rows }, () => [startToken]),
    encoderStates: asFloats(encoderStates, decoder.statesType),
    cache: emptyCache(decoder, rows),
    cached: false,
    attentionHeads: [],
  });
  const probabilities = Array.from({ length: rows }, (_, row) =>
    probabilitiesOf(step.logits(row, 0), tokens),
  );
  step.release();
  release(Object.values(step.cache));
  return probabilities;
}

function chosen(
  step: StepOutput,
  place: number,
  row: Row,
  { processLogits, sampling }: DecodeOptions,
): TokenChoice {
  const logits = step.logits(place, step.positions - 1);
  processLogits?.(logits, row.tokens);
  return chooseToken(logits, sampling ? { ...sampling, random: row.random } : null);
}

function advance(row: Row, choice: TokenChoice, endToken: number): void {
  if (choice.token === endToken) {
    row.endLogProbability = choice.logProbability;
    row.stop = "end";
    return;
  }
  row.tokens.push(choice.token);
  row.logProbabilities.push(choice.logProbability);
  const kept = lengthBeforeLoop(row.tokens, row.maxTokens);
  if (kept !== null) {
    row.tokens.length = kept;
    row.logProbabilities.length = kept;
    row.steps = kept;
    row.stop = "loop";
  } else if (row.tokens.length >= row.maxTokens) {
    row.stop = "limit";
  }
}

/** Returns the array for one more step's `[heads, frames]`. */
function nextAttention(row: Row, heads: number): Float32Array {
  const stepLength = heads * row.frames;
  if (row.attention.length < (row.steps + 1) * stepLength) {
    const room = Math.min(row.maxTokens, Math.max(STEPS_AT_FIRST, 2 * row.steps)) * stepLength;
    const { buffer } = row.attention as Float32Array<ArrayBuffer>;
    row.attention = new Float32Array(buffer.transfer(room * Float32Array.BYTES_PER_ELEMENT));
  }
  row.steps += 1;
  return row.attention.subarray((row.steps - 1) * stepLength, row.steps * stepLength);
}

function finish(row: Row, stepLength: number): DecodedSequence {
  const { tokens, logProbabilities, endLogProbability, noSpeechProbability, frames, steps } = row;
  return {
    tokens,
    logProbabilities,
    endLogProbability,
    noSpeechProbability,
    stop: row.stop ?? "end",
    attention: row.attention.subarray(0, steps * stepLength),
    steps,
    frames,
  };
}
