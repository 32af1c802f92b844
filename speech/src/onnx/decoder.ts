import { type InferenceSession, Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";
import { crossAttentionOutput } from "./graph.ts";
import { asFeeds, type FloatType, floatsOf, floatTensor, floatType, release } from "./tensors.ts";

/**
 * A decoder with a key/value cache, exported as `decoder_model_merged.onnx` (Optimum's layout), run step
 * by step.
 */

/** One attention head of a decoder; both count from 0. */
export interface AttentionHead {
  layer: number;
  head: number;
}

/** A decoder session and what its metadata tell. */
export interface Seq2SeqDecoder {
  session: InferenceSession;
  heads: number;
  headSize: number;
  vocabularySize: number;
  /** `0.decoder.key`, `0.encoder.value`, …: the names of the caches without their `past_key_values.`. */
  caches: readonly string[];
  cacheType: FloatType;
  statesType: FloatType;
  /** Layers whose cross-attention it gives. */
  attentionLayers: readonly number[];
}

/** @throws SpeechError `model_unusable` where the session is no merged decoder with a key/value cache. */
export function describeDecoder(session: InferenceSession): Seq2SeqDecoder {
  const prefix = "past_key_values.";
  const caches = session.inputNames
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  const cache = tensorOf(session.inputMetadata, `${prefix}${caches[0]}`);
  const [, heads, , headSize] = cache?.shape ?? [];
  const vocabularySize = tensorOf(session.outputMetadata, "logits")?.shape[2];
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
  const layers = new Set(caches.map((name) => Number.parseInt(name, 10)));
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
  };
}

function tensorOf(metadata: readonly InferenceSession.ValueMetadata[], name: string) {
  const found = metadata.find((value) => value.name === name);
  return found?.isTensor ? found : undefined;
}

/** Tensors by the names of `Seq2SeqDecoder.caches`. */
type Cache = Record<string, Tensor>;

/** What a decoder that has seen no token remembers. */
export function emptyCache(decoder: Seq2SeqDecoder, rows: number): Cache {
  const dims = [rows, decoder.heads, 0, decoder.headSize];
  return Object.fromEntries(
    decoder.caches.map((name) => [name, floatTensor(decoder.cacheType, new Float32Array(0), dims)]),
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
}

export interface StepOutput {
  /** How many tokens of each row went in. */
  positions: number;
  /** A view of the logits after one of these tokens. */
  logits(row: number, position: number): Float32Array;
  /** Writes the last position's `[heads, frames]` to the beginning of `target`. */
  copyAttention(row: number, frames: number, target: Float32Array): void;
  cache: Cache;
  /** Gives back the memory of all but the cache; call when done with it. */
  release(): void;
}

/**
 * One run of the decoder. What it remembers anew takes the place of what was in the cache given, whose memory
 * is given back.
 * @throws SpeechError `model_unusable` where the model gives what its metadata do not promise.
 */
export async function runStep(decoder: Seq2SeqDecoder, input: StepInput): Promise<StepOutput> {
  const { inputTokens, encoderStates, cache, cached, attentionHeads } = input;
  const rows = inputTokens.length;
  const positions = inputTokens[0]?.length ?? 0;
  const feeds: Record<string, Tensor> = {
    input_ids: new Tensor("int64", BigInt64Array.from(inputTokens.flat(), BigInt), [rows, positions]),
    encoder_hidden_states: encoderStates,
    use_cache_branch: new Tensor("bool", [cached], [1]),
  };
  for (const name of decoder.caches) feeds[`past_key_values.${name}`] = cache[name] as Tensor;

  // The encoder's half of the cache is made by the first step only and stays as it is.
  const renewed = decoder.caches.filter((name) => !cached || !name.includes(".encoder."));
  const layers = [...new Set(attentionHeads.map(({ layer }) => layer))];
  const frames = encoderStates.dims[1] ?? 0;
  let outputs: InferenceSession.OnnxValueMapType;
  try {
    outputs = await decoder.session.run(asFeeds(feeds), [
      "logits",
      ...renewed.map((name) => `present.${name}`),
      ...layers.map(crossAttentionOutput),
    ]);
  } catch (error) {
    throw new SpeechError("model_unusable", "The decoder model cannot be run.", { cause: error });
  }

  release(renewed.map((name) => cache[name] as Tensor));

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
      for (const [place, { layer, head }] of attentionHeads.entries()) {
        const start = ((row * decoder.heads + head) * positions + positions - 1) * frames;
        const values = attention.get(layer)?.subarray(start, start + wantedFrames) ?? [];
        target.set(values, place * wantedFrames);
      }
    },
    cache: {
      ...cache,
      ...Object.fromEntries(renewed.map((name) => [name, outputs[`present.${name}`] as Tensor])),
    },
    release() {
      release(["logits", ...layers.map(crossAttentionOutput)].map((name) => outputs[name] as Tensor));
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
