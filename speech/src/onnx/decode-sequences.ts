import type { Tensor } from "onnxruntime-node";
import {
  type AttentionHead,
  emptyCache,
  runStep,
  type Seq2SeqDecoder,
  type StepOutput,
} from "./seq2seq-decoder.ts";
import { asFloats, release, selectRows } from "./tensors.ts";
import { chooseToken, probabilitiesOf, seededRandom, type TokenChoice } from "./token-selection.ts";

export interface DecodeOptions {
  /** Output of the encoder, `[rows, frames, width]`. */
  encoderStates: Tensor;
  /** First tokens of each row, which are not part of the result. All prompts have the same length. */
  prompts: readonly (readonly number[])[];
  endToken: number;
  maxTokens: readonly number[];
  /** Heads whose cross-attention is returned. Their layers must have `cross_attentions.N` outputs. */
  attentionHeads: readonly AttentionHead[];
  /** Number of frames of cross-attention for each row; all by default. */
  attentionFrames?: readonly number[];
  /** Sets the logits of tokens to −∞ if these must not follow the given tokens. */
  processLogits?: (logits: Float32Array, tokens: readonly number[]) => void;
  /** Enables sampling. All rows use the same seed, so results do not depend on the rest of the batch. */
  sampling?: { temperature: number; seed: number };
  /** Token whose probability after a position of the prompts is returned. */
  noSpeech?: { token: number; position: number } | null;
  signal: AbortSignal;
}

export interface DecodedSequence {
  /** Without the prompt and the end token. */
  tokens: number[];
  /** Natural log-probability of each token at temperature 1. */
  logProbabilities: number[];
  /** Log-probability of the end token; null if decoding stopped for another reason. */
  endLogProbability: number | null;
  /** Null if not requested. */
  noSpeechProbability: number | null;
  /** Why decoding stopped: end token, token limit, or repetition loop. `tokens` ends with the loop's first occurrence. */
  stop: "end" | "limit" | "loop";
  /**
   * Cross-attention of the requested heads, `[steps, heads, frames]`. Step i chose token i. If `stop` is `end`, the last
   * step chose the end token.
   */
  attention: Float32Array;
  steps: number;
  frames: number;
}

interface Row {
  maxTokens: number;
  frames: number;
  random: () => number;
  tokens: number[];
  logProbabilities: number[];
  endLogProbability: number | null;
  noSpeechProbability: number | null;
  /** `[steps, heads, frames]`, with spare capacity. */
  attention: Float32Array;
  steps: number;
  stop: DecodedSequence["stop"] | null;
}

/** If this share of the rows or less is unfinished, finished rows are removed from the batch. */
const REMOVE_ROWS_SHARE = 0.6;
/** About the number of tokens in half a minute of speech. */
const INITIAL_STEPS = 80;

/**
 * Decodes a batch with an encoder-decoder model that was exported as `encoder_model.onnx` and
 * `decoder_model_merged.onnx`.
 * @returns one sequence for each row of `encoderStates`, in the same order
 * @throws SpeechError `model_unusable` if the model's output does not match its metadata; the signal's reason if it is
 * aborted
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
      for (const [index, row] of active.entries()) {
        if (!cached && options.noSpeech) {
          const logits = step.logits(index, options.noSpeech.position);
          row.noSpeechProbability = probabilitiesOf(logits, [options.noSpeech.token])[0] ?? null;
        }
        if (row.stop) continue;
        const choice = chooseNext(step, index, row, options);
        step.copyAttention(index, row.frames, nextAttention(row, attentionHeads.length));
        advance(row, choice, options.endToken);
      }
      step.release();
      cached = true;

      // Finished rows cost time, but removing them requires a copy of the caches.
      const unfinished = [...active.keys()].filter((index) => !active[index]?.stop);
      if (unfinished.length > 0 && unfinished.length <= active.length * REMOVE_ROWS_SHARE) {
        active = unfinished.map((index) => active[index] as Row);
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
  /** Output of the encoder, `[rows, frames, width]`. */
  encoderStates: Tensor;
  startToken: number;
  /** Tokens whose probabilities are returned. */
  tokens: readonly number[];
}

/** Returns the probabilities of the tokens after `startToken` for each row. */
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

function chooseNext(
  step: StepOutput,
  index: number,
  row: Row,
  { processLogits, sampling }: DecodeOptions,
): TokenChoice {
  const logits = step.logits(index, step.positions - 1);
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

/** Returns the array for the next step, `[heads, frames]`. */
function nextAttention(row: Row, heads: number): Float32Array {
  const stepLength = heads * row.frames;
  if (row.attention.length < (row.steps + 1) * stepLength) {
    const room = Math.min(row.maxTokens, Math.max(INITIAL_STEPS, 2 * row.steps)) * stepLength;
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

const MIN_OCCURRENCES = 4;
/** Minimum length of a loop at the token limit. */
const MIN_TOKENS_AT_LIMIT = 16;
const MAX_PERIOD = 24;
/** Longest period that may be a syllable, such as "no" or "ha". */
const SYLLABLE_TOKENS = 2;
/** People repeat syllables many times, but hardly this often. */
const SYLLABLE_LOOP_TOKENS = 24;
/** At five tokens per second, more than anyone can say within a window of 30 s. */
const UNSAYABLE_TOKENS = 160;

/**
 * Detects a repetition loop at the end of the tokens. Real repetitions, as in songs, prayers and lessons, come to an end. A
 * loop reaches the token limit or is longer than anyone can speak.
 * @param maxTokens the token limit
 * @returns number of tokens up to the end of the first occurrence; null if there is no certain loop
 */
export function lengthBeforeLoop(tokens: readonly number[], maxTokens: number): number | null {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const needed = Math.max(MIN_OCCURRENCES * period, minTokens(period, tokens.length >= maxTokens));
    if (tokens.length < needed) continue;
    let same = period;
    while (same < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same + period)) same++;
    if (same >= needed) return tokens.length - same + period;
  }
  return null;
}

function minTokens(period: number, isAtLimit: boolean): number {
  if (isAtLimit) return MIN_TOKENS_AT_LIMIT;
  return period <= SYLLABLE_TOKENS ? SYLLABLE_LOOP_TOKENS : UNSAYABLE_TOKENS;
}
