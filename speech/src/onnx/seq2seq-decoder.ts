import { type InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { LIKELIEST_PROBABILITY, LIKELIEST_TOKEN } from "./argmax-outputs.ts";
import { crossAttentionOutput } from "./cross-attention-outputs.ts";
import { asFeeds, type FloatType, floatsOf, floatTensor, floatType, release } from "./tensors.ts";
import { noProbabilities, type TokenChoice } from "./token-selection.ts";

/**
 * A decoder with a key/value cache, exported as `decoder_model_merged.onnx` (Optimum's layout), run step
 * by step.
 */

/** One attention head of a decoder; both count from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

/** A part of what a decoder remembers, by its names among inputs and outputs, put together once for all steps. */
interface CacheNames {
  /** `past_key_values.0.decoder.key`, `past_key_values.0.encoder.value`, … */
  past: string;
  /** `present.0.decoder.key`, … */
  present: string;
  /** Made by the first step only; it stays as it is. */
  fixed: boolean;
}

/** A decoder session and what its metadata tell. */
export interface Seq2SeqDecoder {
  session: InferenceSession;
  heads: number;
  headSize: number;
  vocabularySize: number;
  caches: readonly CacheNames[];
  cacheType: FloatType;
  statesType: FloatType;
  /** Layers whose cross-attention it gives. */
  attentionLayers: readonly number[];
  /** Whether it tells its likeliest token by itself. */
  tellsLikeliest: boolean;
}

/** @throws SpeechError `model_unusable` where the session is no merged decoder with a key/value cache. */
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
  const layers = new Set(caches.map(({ past }) => Number.parseInt(past.slice(prefix.length), 10)));
  return {
    session,
    heads,
    headSize,
    vocabularySize,
    caches,
    cacheType: floatType(cache?.type, "key/value cache"),
    statesType: floatType(
      tensorOf(session.inputMetadata, "encoder_hidden_states")?.type,
      "encoder_hidden_states",
    ),
    attentionLayers: [...layers].filter((layer) => session.outputNames.includes(crossAttentionOutput(layer))),
    tellsLikeliest: session.outputNames.includes(LIKELIEST_TOKEN),
  };
}

function tensorOf(metadata: readonly InferenceSession.ValueMetadata[], name: string) {
  const found = metadata.find((value) => value.name === name);
  return found?.isTensor ? found : undefined;
}

/** Tensors by the names of inputs. */
type Cache = Record<string, Tensor>;

/** What a decoder that has seen no token remembers. */
export function emptyCache(decoder: Seq2SeqDecoder, rows: number): Cache {
  const dims = [rows, decoder.heads, 0, decoder.headSize];
  return Object.fromEntries(
    decoder.caches.map(({ past }) => [past, floatTensor(decoder.cacheType, new Float32Array(0), dims)]),
  );
}

export interface StepInput {
  /** Tokens that go in, for each row equally many. */
  inputTokens: readonly (readonly number[])[];
  /** `[rows, frames, width]`, of the decoder's `statesType`. */
  encoderStates: Tensor;
  cache: Cache;
  /** Whether the cache holds what a step gave. */
  cached: boolean;
  attentionHeads: readonly AttentionHead[];
  /** Logits, or (of a decoder that tells it by itself) the likeliest token alone. */
  wanted: "logits" | "likeliest";
}

export interface StepOutput {
  /** How many tokens of each row went in. */
  positions: number;
  /** A view of the logits after one of these tokens. */
  logits(row: number, position: number): Float32Array;
  /** The likeliest token after the last of them. */
  likeliest(row: number): TokenChoice;
  /** Writes the last position's `[heads, frames]` to the beginning of `target`. */
  copyAttention(row: number, frames: number, target: Float32Array): void;
  cache: Cache;
  /** Gives back the memory of all but the cache; call when done with it. */
  release(): void;
}

const NONE = new Float32Array(0);

/**
 * One run of the decoder. What it remembers anew takes the place of what was in the cache given, whose memory
 * is given back.
 * @throws SpeechError `model_unusable` where the model gives what its metadata do not promise.
 */
export async function runStep(decoder: Seq2SeqDecoder, input: StepInput): Promise<StepOutput> {
  const { inputTokens, encoderStates, cache, cached, attentionHeads, wanted } = input;
  const rows = inputTokens.length;
  const positions = inputTokens[0]?.length ?? 0;
  const feeds = asFeeds({
    ...cache,
    input_ids: new Tensor("int64", BigInt64Array.from(inputTokens.flat(), BigInt), [rows, positions]),
    encoder_hidden_states: encoderStates,
    use_cache_branch: new Tensor("bool", [cached], [1]),
  });
  const renewed = decoder.caches.filter(({ fixed }) => !cached || !fixed);
  const layers = [...new Set(attentionHeads.map(({ layer }) => layer))];
  const frames = encoderStates.dims[1] ?? 0;
  const wantedOutputs = wanted === "logits" ? ["logits"] : [LIKELIEST_TOKEN, LIKELIEST_PROBABILITY];
  let outputs: InferenceSession.OnnxValueMapType;
  try {
    outputs = await decoder.session.run(feeds, [
      ...wantedOutputs,
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
  const choices = rows * positions;
  const logits = wanted === "logits" ? floatsOfLength(outputs, "logits", choices * vocabularySize) : NONE;
  const probabilities =
    wanted === "likeliest" ? floatsOfLength(outputs, LIKELIEST_PROBABILITY, choices) : NONE;
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
    likeliest(row) {
      const last = row * positions + positions - 1;
      const probability = probabilities[last] ?? 0;
      if (!(probability > 0)) throw noProbabilities();
      const tokens = outputs[LIKELIEST_TOKEN]?.data as BigInt64Array;
      return { token: Number(tokens[last]), logProbability: Math.log(probability) };
    },
    copyAttention(row, wantedFrames, target) {
      for (const [place, { layer, head }] of attentionHeads.entries()) {
        const start = ((row * decoder.heads + head) * positions + positions - 1) * frames;
        const values = attention.get(layer)?.subarray(start, start + wantedFrames) ?? [];
        target.set(values, place * wantedFrames);
      }
    },
    cache: nextCache,
    release() {
      release([...wantedOutputs, ...layers.map(crossAttentionOutput)].map((name) => outputs[name] as Tensor));
    },
  };
}

function floatsOfLength(
  outputs: InferenceSession.OnnxValueMapType,
  name: string,
  length: number,
): Float32Array {
  const tensor = outputs[name];
  if (!tensor) throw new SpeechError("model_unusable", `The decoder gave no ${name}.`);
  if (tensor.dims.reduce((product, size) => product * size, 1) !== length) {
    throw new SpeechError("model_unusable", `The decoder gave ${name} of shape [${tensor.dims.join(", ")}].`);
  }
  return floatsOf(tensor);
}
