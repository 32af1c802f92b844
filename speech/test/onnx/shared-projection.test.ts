import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { shareProjection } from "../../src/onnx/shared-projection.ts";
import { bundledDecoder, bundledEncoderPath, decode, encode, openGraph } from "../support/bundled-model.ts";
import { tinyWhisperModel } from "../support/language-recordings.ts";
import { spoken } from "../support/spoken.ts";

test("one output projection for both branches returns the same tokens and probabilities, to the last bit", async () => {
  const states = await encode(spoken("english-1").samples.subarray(0, 80_000));
  const edited = shareProjection(bundledDecoder);
  expect(edited).not.toBe(bundledDecoder);
  const [before, after] = [await openGraph(bundledDecoder), await openGraph(edited)];
  const expected = await decode(before, states);
  expect(expected.tokens.length).toBeGreaterThan(5);
  expect(await decode(after, states)).toEqual(expected);
  await Promise.all([before.release(), after.release()]);
});

test("a graph without such a projection stays as it is", () => {
  for (const model of [
    readFileSync(bundledEncoderPath),
    readFileSync(`${tinyWhisperModel}/encoder_model.onnx`),
    shareProjection(bundledDecoder),
  ]) {
    expect(shareProjection(model)).toBe(model);
  }
});

test("reports bytes that are not a model", () => {
  expect(() => shareProjection(new TextEncoder().encode("<!doctype html>"))).toThrow(SpeechError);
});
