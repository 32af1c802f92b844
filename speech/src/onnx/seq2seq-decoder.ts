import { type InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { crossAttentionOutput } from "./cross-attention-outputs.ts";
import { asFeeds, type FloatType, floatsOf, floatTensor, parseFloatType, release } from "./tensors.ts";

/** Layers and heads are numbered from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

/** Input and output names of one cache tensor. */
interface CacheNames {
  /** `past_key_values.0.decoder.key`, `past_key_values.0.encoder.value`, … */
  past: string;
  /** `present.0.decoder.key`, … */
  present: string;
  /** Whether only the first step computes the tensor. */
  fixed: boolean;
}

/** A session of `decoder_model_merged.onnx` (Optimum's layout) and its metadata. */
export interface Seq2SeqDecoder {
  session: InferenceSession;
  heads: number;
  headSize: number;
  vocabularySize: number;
  caches: readonly CacheNames[];
  cacheType: FloatType;
  statesType: FloatType;
  /** Whether the positions of the input tokens are an input, as in exports of newer versions of Optimum. */
  takesPositions: boolean;
  /** Layers whose cross-attention is an output. */
  attentionLayers: readonly number[];
}

const CACHE_POSITION = "cache_position";

/** @throws SpeechError `model_unusable` if the session is not a merged decoder with a key/value cache */
export function describeDecoder(session: InferenceSession): Seq2SeqDecoder {
  const prefix = "past_key_values.";
  const caches = session.inputNames
    .filter((name) => name.startsWith(prefix))
    .map((past): CacheNames => {
      const name = past.slice(prefix.length);
      return { past, present: `present.${name}`, fixed: name.includes(".encoder.") };
    });
  const cache = tensorOf(session.inputMetadata, caches[0]?.past ?? "");
  const [, heads, , headSize] = cache?.shape ?? [];
  const vocabularySize = tensorOf(session.outputMetadata, "logits")?.shape[2];
  const expected = ["input_ids", "encoder_hidden_states", "use_cache_branch"];
  if (
    caches.length === 0 ||
    typeof heads !== "number" ||
    typeof headSize !== "number" ||
    typeof vocabularySize !== "number" ||
    !expected.every((name) => session.inputNames.includes(name)) ||
    !caches.every(({ present }) => session.outputNames.includes(present))
  ) {
    throw new SpeechError("model_unusable", "The decoder is not a merged decoder with a key/value cache.");
  }
  const inputs = [...expected, CACHE_POSITION, ...caches.map(({ past }) => past)];
  const unknown = session.inputNames.filter((name) => !inputs.includes(name));
  if (unknown.length > 0) {
    throw new SpeechError(
      "model_unusable",
      `The decoder has unknown inputs: ${unknown.join(", ")}. Export it with Optimum for transformers.js.`,
    );
  }
  const layers = new Set(caches.map(({ past }) => Number.parseInt(past.slice(prefix.length), 10)));
  return {
    session,
    heads,
    headSize,
    vocabularySize,
    caches,
    cacheType: parseFloatType(cache?.type, "key/value cache"),
    statesType: parseFloatType(
      tensorOf(session.inputMetadata, "encoder_hidden_states")?.type,
      "encoder_hidden_states",
    ),
    takesPositions: session.inputNames.includes(CACHE_POSITION),
    attentionLayers: [...layers].filter((layer) => session.outputNames.includes(crossAttentionOutput(layer))),
  };
}

function tensorOf(metadata: readonly InferenceSession.ValueMetadata[], name: string) {
  const found = metadata.find((value) => value.name === name);
  return found?.isTensor ? found : undefined;
}

/** Tensors, keyed by input name. */
type Cache = Record<string, Tensor>;

export function emptyCache(decoder: Seq2SeqDecoder, rows: number): Cache {
  const dims = [rows, decoder.heads, 0, decoder.headSize];
  return Object.fromEntries(
    decoder.caches.map(({ past }) => [past, floatTensor(decoder.cacheType, new Float32Array(0), dims)]),
  );
}

export interface StepInput {
  /** Tokens of each row. All rows have the same number. */
  inputTokens: readonly (readonly number[])[];
  /** `[rows, frames, width]` with the decoder's `statesType`. */
  encoderStates: Tensor;
  cache: Cache;
  /** Whether the cache comes from an earlier step. */
  cached: boolean;
  attentionHeads: readonly AttentionHead[];
}

export interface StepOutput {
  /** Number of input tokens per row. */
  positions: number;
  /** Returns a view of the logits after one of the input tokens. */
  logits(row: number, position: number): Float32Array;
  /** Copies the attention at the last position, `[heads, frames]`, to the beginning of `target`. */
  copyAttention(row: number, frames: number, target: Float32Array): void;
  cache: Cache;
  /** Frees all outputs except the cache. */
  release(): void;
}

/**
 * Runs one step of the decoder. Frees the tensors of the given cache that the new cache replaces.
 * @throws SpeechError `model_unusable` if the model's output does not match its metadata
 */
export async function runStep(decoder: Seq2SeqDecoder, input: StepInput): Promise<StepOutput> {
  const { inputTokens, encoderStates, cache, cached, attentionHeads } = input;
  const rows = inputTokens.length;
  const positions = inputTokens[0]?.length ?? 0;
  const feeds = asFeeds({
    ...cache,
    input_ids: new Tensor("int64", BigInt64Array.from(inputTokens.flat(), BigInt), [rows, positions]),
    encoder_hidden_states: encoderStates,
    use_cache_branch: new Tensor("bool", [cached], [1]),
    ...(decoder.takesPositions && {
      [CACHE_POSITION]: positionsAfter(cachedPositions(decoder, cache), positions),
    }),
  });
  const renewed = decoder.caches.filter(({ fixed }) => !cached || !fixed);
  const layers = [...new Set(attentionHeads.map(({ layer }) => layer))];
  const frames = encoderStates.dims[1] ?? 0;
  let outputs: InferenceSession.OnnxValueMapType;
  try {
    outputs = await decoder.session.run(feeds, [
      "logits",
      ...renewed.map(({ present }) => present),
      ...layers.map(crossAttentionOutput),
    ]);
  } catch (error) {
    throw new SpeechError("model_unusable", "The decoder model cannot be run.", { cause: error });
  }

  release(renewed.map(({ past }) => cache[past] as Tensor));
  const nextCache = { ...cache };
  for (const { past, present } of renewed) nextCache[past] = outputs[present] as Tensor;

  const { vocabularySize } = decoder;
  const logits = floatsOfLength(outputs, "logits", rows * positions * vocabularySize);
  const attention = new Map(
    layers.map((layer) => {
      const length = rows * decoder.heads * positions * frames;
      return [layer, floatsOfLength(outputs, crossAttentionOutput(layer), length)];
    }),
  );
  return {
    positions,
    logits(row, position) {
      const start = (row * positions + position) * vocabularySize;
      return logits.subarray(start, start + vocabularySize);
    },
    copyAttention(row, wantedFrames, target) {
      for (const [index, { layer, head }] of attentionHeads.entries()) {
        const start = ((row * decoder.heads + head) * positions + positions - 1) * frames;
        const values = attention.get(layer)?.subarray(start, start + wantedFrames) ?? [];
        target.set(values, index * wantedFrames);
      }
    },
    cache: nextCache,
    release() {
      release(["logits", ...layers.map(crossAttentionOutput)].map((name) => outputs[name] as Tensor));
    },
  };
}

/** Number of tokens of earlier steps. */
function cachedPositions({ caches }: Seq2SeqDecoder, cache: Cache): number {
  const growing = caches.find(({ fixed }) => !fixed);
  return (growing && cache[growing.past]?.dims[2]) ?? 0;
}

function positionsAfter(count: number, added: number): Tensor {
  const positions = BigInt64Array.from({ length: added }, (_, index) => BigInt(count + index));
  return new Tensor("int64", positions, [added]);
}

function floatsOfLength(
  outputs: InferenceSession.OnnxValueMapType,
  name: string,
  length: number,
): Float32Array {
  const tensor = outputs[name];
  if (!tensor) throw new SpeechError("model_unusable", `The decoder has no output ${name}.`);
  if (tensor.dims.reduce((product, size) => product * size, 1) !== length) {
    throw new SpeechError(
      "model_unusable",
      `The decoder's output ${name} has the wrong shape [${tensor.dims.join(", ")}].`,
    );
  }
  return floatsOf(tensor);
}
