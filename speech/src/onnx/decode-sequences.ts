import type { Tensor } from "onnxruntime-node";
import { lengthBeforeLoop } from "./repetition-loops.ts";
import {
  type AttentionHead,
  emptyCache,
  runStep,
  type Seq2SeqDecoder,
  type StepOutput,
} from "./seq2seq-decoder.ts";
import { asFloats, keepRows, release } from "./tensors.ts";
import { chooseToken, probabilitiesOf, seededRandom, type TokenChoice } from "./token-selection.ts";

/**
 * Decoding of encoder-decoder speech models with a key/value cache, many recordings at once: the loop that
 * every model exported as `encoder_model.onnx` and `decoder_model_merged.onnx` (Optimum's layout) shares.
 * What differs between models (layers, heads, vocabulary, precision) is read from the session.
 */

export interface DecodeOptions {
  /** `[rows, frames, width]`, as the encoder gave it. */
  encoderStates: Tensor;
  /** Tokens that each row starts with, equally many; they are not part of what comes out. */
  prompts: readonly (readonly number[])[];
  endToken: number;
  /** Most tokens to choose, for each row. */
  maxTokens: readonly number[];
  /** Heads whose cross-attention is wanted; their layers need `cross_attentions.N` outputs. */
  attentionHeads: readonly AttentionHead[];
  /** How many frames of it are wanted, for each row; all if left out. */
  attentionFrames?: readonly number[];
  /** Sets the logits of tokens that may not come next to −∞, given the tokens chosen so far. */
  forbid?: (logits: Float32Array, tokens: readonly number[]) => void;
  /** Draws tokens by chance, each row from the same seed, so that what else is in the batch changes nothing. */
  sampling?: { temperature: number; seed: number };
  /** A token whose probability right after the prompt's first token is wanted: Whisper's no-speech token. */
  watchedToken?: number | null;
  signal: AbortSignal;
}

export interface DecodedSequence {
  /** Tokens chosen, without the prompt and the end token. */
  tokens: number[];
  /** Natural logarithm of each token's probability, whatever the temperature. */
  logProbabilities: number[];
  /** The same of the end token; null where decoding stopped for another reason. */
  endLogProbability: number | null;
  /** Probability of the watched token; null where none was. */
  watchedProbability: number | null;
  /**
   * Why decoding stopped: the model said so, the token limit, or a phrase that came back again and again
   * (of which `tokens` keeps the first).
   */
  stop: "end" | "limit" | "loop";
  /**
   * Cross-attention, `[steps, heads, frames]` in one array, heads in the order asked for. Step i chose
   * token i; where `stop` is `end`, one more step chose the end token.
   */
  attention: Float32Array;
  steps: number;
  frames: number;
}

/** One recording of a batch while it is decoded. */
interface Row {
  maxTokens: number;
  frames: number;
  random: () => number;
  tokens: number[];
  logProbabilities: number[];
  endLogProbability: number | null;
  watchedProbability: number | null;
  /** `[steps, heads, frames]` so far, and room for more. */
  attention: Float32Array;
  steps: number;
  stop: DecodedSequence["stop"] | null;
}

const KEEP_ROWS_SHARE = 0.6;
/** Of the attention of these there is room at first; about as many tokens come of half a minute of speech. */
const STEPS_AT_FIRST = 80;

/**
 * Decodes all rows together, each to its own end.
 * @returns One sequence for each row of `encoderStates`, in the same order.
 * @throws SpeechError `model_unusable` where the model gives what its metadata do not promise; the
 * signal's reason where it is aborted.
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
      watchedProbability: null,
      attention: new Float32Array(0),
      steps: 0,
      stop: maxTokens > 0 ? null : "limit",
    }),
  );
  const choosesByItself =
    decoder.tellsLikeliest && !options.forbid && !sampling && typeof options.watchedToken !== "number";
  const wanted = choosesByItself ? "likeliest" : "logits";
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
        wanted,
      });
      cache = step.cache;
      for (const [place, row] of active.entries()) {
        if (!cached && typeof options.watchedToken === "number") {
          const first = step.logits(place, 0);
          row.watchedProbability = probabilitiesOf(first, [options.watchedToken])[0] ?? null;
        }
        if (row.stop) continue;
        const choice = choosesByItself ? step.likeliest(place) : chosen(step, place, row, options);
        step.copyAttention(place, row.frames, nextAttention(row, attentionHeads.length));
        advance(row, choice, options.endToken);
      }
      step.release();
      cached = true;

      // Rows that have ended still cost time; moving the others together costs a copy of the caches.
      const going = [...active.keys()].filter((place) => !active[place]?.stop);
      if (going.length > 0 && going.length <= active.length * KEEP_ROWS_SHARE) {
        active = going.map((place) => active[place] as Row);
        encoderStates = keepRows(encoderStates, going);
        const all = Object.values(cache);
        cache = Object.fromEntries(
          Object.entries(cache).map(([name, tensor]) => [name, keepRows(tensor, going)]),
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
  /** `[rows, frames, width]`, as the encoder gave it. */
  encoderStates: Tensor;
  startToken: number;
  /** Tokens whose probabilities are wanted. */
  tokens: readonly number[];
}

/** What each row says right after its first token: the probability of each of the tokens asked for. */
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
    wanted: "logits",
  });
  const probabilities = Array.from({ length: rows }, (_, row) =>
    probabilitiesOf(step.logits(row, 0), tokens),
  );
  step.release();
  release(Object.values(step.cache));
  return probabilities;
}

function chosen(step: StepOutput, place: number, row: Row, { forbid, sampling }: DecodeOptions): TokenChoice {
  const logits = step.logits(place, step.positions - 1);
  forbid?.(logits, row.tokens);
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

/** Room for one more step's `[heads, frames]`. */
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
  const { tokens, logProbabilities, endLogProbability, watchedProbability, frames, steps } = row;
  return {
    tokens,
    logProbabilities,
    endLogProbability,
    watchedProbability,
    stop: row.stop ?? "end",
    attention: row.attention.subarray(0, steps * stepLength),
    steps,
    frames,
  };
}
