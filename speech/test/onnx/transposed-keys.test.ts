import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { describeDecoder, emptyCache, runStep } from "../../src/onnx/seq2seq-decoder.ts";
import { cacheTransposedKeys } from "../../src/onnx/transposed-keys.ts";
import { bundledDecoder, bundledEncoderPath, decode, encode, openGraph } from "../support/bundled-model.ts";
import { tinyWhisperModel } from "../support/language-recordings.ts";
import { spoken } from "../support/spoken.ts";

test("keys that stay turned give the same tokens, probabilities and attention, to the last bit", async () => {
  const states = await encode(spoken("english-1").samples.subarray(0, 80_000));
  const [before, after] = [
    await openGraph(bundledDecoder),
    await openGraph(cacheTransposedKeys(bundledDecoder)),
  ];
  const expected = await decode(before, states);
  expect(expected.tokens.length).toBeGreaterThan(5);
  expect(await decode(after, states)).toEqual(expected);
  await Promise.all([before.release(), after.release()]);
});

test("the cache keeps the keys of every layer turned", async () => {
  const states = await encode(spoken("english-1").samples.subarray(0, 16_000));
  const session = await openGraph(cacheTransposedKeys(bundledDecoder));
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
    readFileSync(bundledEncoderPath),
    readFileSync(`${tinyWhisperModel}/encoder_model.onnx`),
    cacheTransposedKeys(bundledDecoder),
  ]) {
    expect(cacheTransposedKeys(model)).toBe(model);
  }
});

test("reports bytes that are not a model", () => {
  expect(() => cacheTransposedKeys(new TextEncoder().encode("<!doctype html>"))).toThrow(SpeechError);
});
