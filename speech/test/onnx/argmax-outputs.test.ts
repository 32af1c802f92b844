import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { expect, onTestFinished, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { addLikeliestOutputs } from "../../src/onnx/argmax-outputs.ts";
import {
  type DecodedSequence,
  type DecodeOptions,
  decodeSequences,
} from "../../src/onnx/decode-sequences.ts";
import { describeDecoder } from "../../src/onnx/seq2seq-decoder.ts";
import { spoken } from "../support/spoken.ts";

const folder = new URL("model/tiny/quantized/", import.meta.resolve("@moonshine-ai/moonshine-js"));
const path = (name: string) => fileURLToPath(new URL(name, folder));
const exported = readFileSync(path("decoder_model_merged.onnx"));

/** What a decoder makes of two recordings of one length side by side. */
async function decode(model: Uint8Array, options: Partial<DecodeOptions> = {}): Promise<DecodedSequence[]> {
  const encoder = await InferenceSession.create(path("encoder_model.onnx"));
  const decoder = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  onTestFinished(() => Promise.all([encoder.release(), decoder.release()]).then(() => {}));
  const samples = [0, 16_000].map((start) => spoken("english-1").samples.slice(start, start + 64_000));
  const states = await Promise.all(
    samples.map(async (input) => {
      const { last_hidden_state: state } = await encoder.run({
        input_values: new Tensor("float32", input, [1, input.length]),
      });
      return state!;
    }),
  );
  const [, frames = 0, width = 0] = states[0]!.dims;
  const joined = new Float32Array(2 * frames * width);
  for (const [row, state] of states.entries()) joined.set(state.data as Float32Array, row * frames * width);
  return await decodeSequences(describeDecoder(decoder), {
    encoderStates: new Tensor("float32", joined, [2, frames, width]),
    prompts: [[1], [1]],
    endToken: 2,
    maxTokens: [40, 40],
    attentionHeads: [],
    signal: new AbortController().signal,
    ...options,
  });
}

test("a decoder that tells its likeliest token makes the same text as one whose logits are looked through", async () => {
  const [expected, told] = [await decode(exported), await decode(addLikeliestOutputs(exported))];
  for (const [row, { tokens, logProbabilities, endLogProbability, stop }] of told.entries()) {
    const before = expected[row]!;
    expect(tokens.length).toBeGreaterThan(5);
    expect({ tokens, stop }).toEqual({ tokens: before.tokens, stop: before.stop });
    // Who looks through the logits leaves out those far below the highest.
    for (const [place, logProbability] of logProbabilities.entries()) {
      expect(logProbability).toBeCloseTo(before.logProbabilities[place]!, 2);
    }
    expect(endLogProbability).toBeCloseTo(before.endLogProbability!, 2);
  }
});

test("rules on tokens hold as before", async () => {
  const [first] = await decode(exported);
  const [ruled] = await decode(addLikeliestOutputs(exported), {
    forbid: (logits) => {
      logits[first!.tokens[0]!] = Number.NEGATIVE_INFINITY;
    },
  });
  expect(ruled!.tokens).not.toContain(first!.tokens[0]);
});

test("states that are no numbers give a coded error", async () => {
  const encoderStates = new Tensor("float32", new Float32Array(2 * 20 * 288).fill(Number.NaN), [2, 20, 288]);
  await expect(decode(addLikeliestOutputs(exported), { encoderStates })).rejects.toMatchObject({
    code: "model_unusable",
  });
});

test("a graph that has such outputs, or no logits, stays as it is", () => {
  for (const model of [addLikeliestOutputs(exported), readFileSync(path("encoder_model.onnx"))]) {
    expect(addLikeliestOutputs(model)).toBe(model);
  }
});

test("what is no model is told as such", () => {
  expect(() => addLikeliestOutputs(new TextEncoder().encode("<!doctype html>"))).toThrow(SpeechError);
});
