import { type InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { crossAttentionOutput } from "./graph.ts";

/**
 * Greedy decoding of encoder-decoder speech models with a key/value cache, many recordings at once: the
 * loop that every model exported as `encoder_model.onnx` and `decoder_model_merged.onnx` (Optimum's
 * layout) shares. What differs between models (layers, heads, vocabulary) is read from the session.
 */

/** One attention head of a decoder; both count from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

export interface GreedyOptions {
  /** `[rows, frames, width]`, as the encoder gave it. */
  encoderStates: Tensor;
  /** Tokens that each row starts with, equally many; they are not part of what comes out. */
  prompts: readonly (readonly number[])[];
  endToken: number;
  /** Most tokens to choose, for each row. */
  maxTokens: readonly number[];
  /** Heads whose cross-attention is wanted; their layers need `cross_attentions.N` outputs. */
  attentionHeads: readonly AttentionHead[];
  signal: AbortSignal;
}

export interface DecodedSequence {
  /** Tokens chosen, without the prompt and the end token. */
  tokens: number[];
  /** Natural logarithm of each token's probability. */
  logProbabilities: number[];
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

/** A decoder session and what its metadata tell. */
export interface Seq2SeqDecoder {
  session: InferenceSession;
  heads: number;
  headSize: number;
  vocabularySize: number;
  /** `0.decoder.key`, `0.encoder.value`, …: the names of the caches without their `past_key_values.`. */
  caches: string[];
}

/** @throws SpeechError `model_unusable` where the session is no merged decoder with a key/value cache. */
export function describeDecoder(session: InferenceSession): Seq2SeqDecoder {
  const prefix = "past_key_values.";
  const caches = session.inputNames
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  const [, heads, , headSize] = tensorShape(session.inputMetadata, `${prefix}${caches[0]}`);
  const vocabularySize = tensorShape(session.outputMetadata, "logits")[2];
  const expected = ["input_ids", "encoder_hidden_states", "use_cache_branch"];
  if (
    caches.length === 0 ||
    typeof heads !== "number" ||
    typeof headSize !== "number" ||
    typeof vocabularySize !== "number" ||
    !expected.every((name) => session.inputNames.includes(name)) ||
    !caches.every((name) => session.outputNames.includes(`present.${name}`))
  ) {
    throw new SpeechError("model_unusable", "The decoder is not a merged decoder with a key/value cache.");
  }
  return { session, heads, headSize, vocabularySize, caches };
}

function tensorShape(metadata: readonly InferenceSession.ValueMetadata[], name: string) {
  const found = metadata.find((value) => value.name === name);
  return found?.isTensor ? found.shape : [];
}

/** One recording of a batch while it is decoded. */
interface Row {
  maxTokens: number;
  tokens: number[];
  logProbabilities: number[];
  /** One `[heads, frames]` for each step. */
  attention: Float32Array[];
  stop: DecodedSequence["stop"] | null;
}

/**
 * Decodes all rows together, each to its own end.
 * @returns One sequence for each row of `encoderStates`, in the same order.
 * @throws SpeechError `model_unusable` where the model gives what its metadata do not promise; the
 * signal's reason where it is aborted.
 */
export async function decodeGreedy(
  decoder: Seq2SeqDecoder,
  options: GreedyOptions,
): Promise<DecodedSequence[]> {
  const frames = options.encoderStates.dims[1] ?? 0;
  const rows = options.maxTokens.map(
    (maxTokens): Row => ({
      maxTokens,
      tokens: [],
      logProbabilities: [],
      attention: [],
      stop: maxTokens > 0 ? null : "limit",
    }),
  );
  let active = [...rows];
  let encoderStates = options.encoderStates;
  let cache = emptyCache(decoder, rows.length);
  let inputTokens = options.prompts;
  let cached = false;

  while (active.some((row) => !row.stop)) {
    options.signal.throwIfAborted();
    const outputs = await runStep(decoder, {
      inputTokens,
      encoderStates,
      cache,
      cached,
      attentionHeads: options.attentionHeads,
    });
    const logits = floats(outputs, "logits");
    const positions = inputTokens[0]?.length ?? 0;
    for (const [place, row] of active.entries()) {
      if (row.stop) continue;
      const lastPosition = (place + 1) * positions - 1;
      const choice = chooseToken(logits, lastPosition * decoder.vocabularySize, decoder.vocabularySize);
      row.attention.push(gatherAttention(outputs, options.attentionHeads, place, positions, frames));
      advance(row, choice, options.endToken);
    }

    // The encoder's half of the cache is made by the first step only and stays as it is.
    cache = Object.fromEntries(
      decoder.caches.map((name) => [
        name,
        (cached && name.includes(".encoder.") ? cache[name] : outputs[`present.${name}`]) as Tensor,
      ]),
    );
    cached = true;

    // Rows that have ended still cost time; moving the others together costs a copy of the caches.
    const going = [...active.keys()].filter((place) => !active[place]?.stop);
    if (going.length > 0 && going.length <= active.length * KEEP_ROWS_SHARE) {
      active = going.map((place) => active[place] as Row);
      encoderStates = keepRows(encoderStates, going);
      cache = Object.fromEntries(
        Object.entries(cache).map(([name, tensor]) => [name, keepRows(tensor, going)]),
      );
    }
    inputTokens = active.map((row) => [row.tokens.at(-1) ?? options.endToken]);
  }
  return rows.map((row) => finish(row, options.attentionHeads.length, frames));
}

const KEEP_ROWS_SHARE = 0.6;

type Cache = Record<string, Tensor>;

function emptyCache(decoder: Seq2SeqDecoder, rows: number): Cache {
  return Object.fromEntries(
    decoder.caches.map((name) => [
      name,
      new Tensor("float32", new Float32Array(0), [rows, decoder.heads, 0, decoder.headSize]),
    ]),
  );
}

interface Step {
  inputTokens: readonly (readonly number[])[];
  encoderStates: Tensor;
  cache: Cache;
  cached: boolean;
  attentionHeads: readonly AttentionHead[];
}

async function runStep(
  decoder: Seq2SeqDecoder,
  { inputTokens, encoderStates, cache, cached, attentionHeads }: Step,
): Promise<InferenceSession.OnnxValueMapType> {
  const feeds: Record<string, Tensor> = {
    input_ids: new Tensor("int64", BigInt64Array.from(inputTokens.flat(), BigInt), [
      inputTokens.length,
      inputTokens[0]?.length ?? 0,
    ]),
    encoder_hidden_states: encoderStates,
    use_cache_branch: new Tensor("bool", [cached], [1]),
  };
  for (const name of decoder.caches) feeds[`past_key_values.${name}`] = cache[name] as Tensor;
  const wanted = [
    "logits",
    ...decoder.caches
      .filter((name) => !cached || !name.includes(".encoder."))
      .map((name) => `present.${name}`),
    ...new Set(attentionHeads.map(({ layer }) => crossAttentionOutput(layer))),
  ];
  try {
    return await decoder.session.run(feeds, wanted);
  } catch (error) {
    throw new SpeechError("model_unusable", "The decoder model cannot be run.", { cause: error });
  }
}

function floats(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  const tensor = outputs[name];
  if (!tensor || !(tensor.data instanceof Float32Array)) {
    throw new SpeechError("model_unusable", `The decoder gave no ${name}.`);
  }
  return tensor.data;
}

/** The likeliest token of one row and the logarithm of its probability. */
function chooseToken(logits: Float32Array, offset: number, length: number) {
  let token = 0;
  let highest = Number.NEGATIVE_INFINITY;
  const end = offset + length;
  for (let i = offset; i < end; i++) {
    const logit = logits[i] as number;
    if (logit > highest) {
      highest = logit;
      token = i - offset;
    }
  }
  let sum = 0;
  for (let i = offset; i < end; i++) sum += Math.exp((logits[i] as number) - highest);
  return { token, logProbability: -Math.log(sum) };
}

function gatherAttention(
  outputs: InferenceSession.OnnxValueMapType,
  heads: readonly AttentionHead[],
  row: number,
  positions: number,
  frames: number,
): Float32Array {
  const gathered = new Float32Array(heads.length * frames);
  for (const [place, { layer, head }] of heads.entries()) {
    const name = crossAttentionOutput(layer);
    const layerHeads = outputs[name]?.dims[1] ?? 0;
    const start = (((row * layerHeads + head) * positions + positions - 1) * frames) as number;
    gathered.set(floats(outputs, name).subarray(start, start + frames), place * frames);
  }
  return gathered;
}

function advance(row: Row, choice: { token: number; logProbability: number }, endToken: number): void {
  if (choice.token === endToken) {
    row.stop = "end";
    return;
  }
  row.tokens.push(choice.token);
  row.logProbabilities.push(choice.logProbability);
  const kept = lengthBeforeLoop(row.tokens);
  if (kept !== null) {
    row.tokens.length = kept;
    row.logProbabilities.length = kept;
    row.attention.length = kept;
    row.stop = "loop";
  } else if (row.tokens.length >= row.maxTokens) {
    row.stop = "limit";
  }
}

const LOOP_TOKENS = 16;
const LOOP_REPEATS = 4;
const LONGEST_LOOP = 24;

/**
 * Whether the tokens end in a phrase said over and over: at least 4 times on end and 16 tokens in all.
 * @returns How many tokens to keep so that the phrase stands once; null where nothing loops.
 */
export function lengthBeforeLoop(tokens: readonly number[]): number | null {
  for (let period = 1; period <= LONGEST_LOOP; period++) {
    const needed = Math.max(LOOP_REPEATS * period, LOOP_TOKENS);
    if (tokens.length < needed) continue;
    let same = period;
    while (same < tokens.length && tokens.at(-1 - same) === tokens.at(-1 - same + period)) same++;
    if (same >= needed) return tokens.length - same + period;
  }
  return null;
}

function keepRows(tensor: Tensor, rows: readonly number[]): Tensor {
  const data = tensor.data as Float32Array;
  const stride = data.length / (tensor.dims[0] ?? 1);
  const kept = new Float32Array(rows.length * stride);
  for (const [place, row] of rows.entries()) {
    kept.set(data.subarray(row * stride, (row + 1) * stride), place * stride);
  }
  return new Tensor("float32", kept, [rows.length, ...tensor.dims.slice(1)]);
}

function finish(row: Row, heads: number, frames: number): DecodedSequence {
  const attention = new Float32Array(row.attention.length * heads * frames);
  for (const [step, values] of row.attention.entries()) attention.set(values, step * heads * frames);
  return {
    tokens: row.tokens,
    logProbabilities: row.logProbabilities,
    stop: row.stop ?? "end",
    attention,
    steps: row.attention.length,
    frames,
  };
}
