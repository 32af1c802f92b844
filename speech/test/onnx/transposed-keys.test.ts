import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { addCrossAttentionOutputs } from "../../src/onnx/cross-attention-outputs.ts";
import { type DecodedSequence, decodeSequences } from "../../src/onnx/decode-sequences.ts";
import { describeDecoder, emptyCache, runStep } from "../../src/onnx/seq2seq-decoder.ts";
import { cacheTransposedKeys } from "../../src/onnx/transposed-keys.ts";
import { tinyWhisperModel } from "../support/language-recordings.ts";
import { spoken } from "../support/spoken.ts";

const folder = new URL("model/tiny/quantized/", import.meta.resolve("@moonshine-ai/moonshine-js"));
const path = (name: string) => fileURLToPath(new URL(name, folder));
const decoder = addCrossAttentionOutputs(readFileSync(path("decoder_model_merged.onnx")));

async function open(model: Uint8Array): Promise<InferenceSession> {
  return await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
}

async function encoded(samples: Float32Array): Promise<Tensor> {
  const encoder = await InferenceSession.create(path("encoder_model.onnx"));
  const input = new Tensor("float32", samples, [1, samples.length]);
  const { last_hidden_state: states } = await encoder.run({ input_values: input });
  await encoder.release();
  return states!;
}

async function decode(session: InferenceSession, encoderStates: Tensor): Promise<DecodedSequence> {
  const [sequence] = await decodeSequences(describeDecoder(session), {
    encoderStates,
    prompts: [[1]],
    endToken: 2,
    maxTokens: [40],
    attentionHeads: [{ layer: 3, head: 5 }],
    signal: new AbortController().signal,
  });
  return sequence!;
}

test("keys that stay turned give the same tokens, probabilities and attention, to the last bit", async () => {
  const states = await encoded(spoken("english-1").samples.subarray(0, 80_000));
  const [before, after] = [await open(decoder), await open(cacheTransposedKeys(decoder))];
  const expected = await decode(before, states);
  expect(expected.tokens.length).toBeGreaterThan(5);
  expect(await decode(after, states)).toEqual(expected);
  await Promise.all([before.release(), after.release()]);
});

test("the cache keeps the keys of every layer turned", async () => {
  const states = await encoded(spoken("english-1").samples.subarray(0, 16_000));
  const session = await open(cacheTransposedKeys(decoder));
  const described = describeDecoder(session);
  const { cache } = await runStep(described, {
    inputTokens: [[1]],
    encoderStates: states,
    cache: emptyCache(described, 1),
    cached: false,
    attentionHeads: [],
  });
  const { heads, headSize } = described;
  for (let layer = 0; layer < 6; layer++) {
    expect(cache[`past_key_values.${layer}.encoder.key`]?.dims).toEqual([1, heads, headSize, states.dims[1]]);
    expect(cache[`past_key_values.${layer}.encoder.value`]?.dims).toEqual([
      1,
      heads,
      states.dims[1],
      headSize,
    ]);
  }
  await session.release();
});

test("a graph whose keys are used in another way stays as it is", () => {
  for (const model of [
    readFileSync(path("encoder_model.onnx")),
    readFileSync(`${tinyWhisperModel}/encoder_model.onnx`),
    cacheTransposedKeys(decoder),
  ]) {
    expect(cacheTransposedKeys(model)).toBe(model);
  }
});

test("reports bytes that are not a model", () => {
  expect(() => cacheTransposedKeys(new TextEncoder().encode("<!doctype html>"))).toThrow(SpeechError);
});
