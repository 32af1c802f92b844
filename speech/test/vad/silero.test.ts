import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { InferenceSession, Tensor, type TypedTensor } from "onnxruntime-node";
import { expect, test } from "vitest";
import { INPUT_SAMPLES, STATE_SIZE, sileroGraph } from "../../src/vad/silero.ts";
import { theChildren, theWeather } from "../support/wav.ts";

const ROWS = 2;
const STEPS = 90;
const WINDOW_SAMPLES = 512;

test("the graph returns the probabilities of the exported model, however many windows it scores per run", async () => {
  const path = fileURLToPath(import.meta.resolve("@ricky0123/vad-web/dist/silero_vad_v5.onnx"));
  const options = { intraOpNumThreads: 1 };
  const exported = await InferenceSession.create(path, options);
  const own = await InferenceSession.create(sileroGraph(await readFile(path)), options);
  const step = (index: number) => {
    const windows = new Float32Array(ROWS * INPUT_SAMPLES);
    for (const [row, speech] of [theWeather, theChildren].entries()) {
      const start = index * WINDOW_SAMPLES;
      windows.set(speech.subarray(start, start + INPUT_SAMPLES), row * INPUT_SAMPLES);
    }
    return windows;
  };
  const fresh = () => new Tensor("float32", new Float32Array(2 * ROWS * STATE_SIZE), [2, ROWS, STATE_SIZE]);

  const expected: number[] = [];
  let state = fresh();
  const sr = new Tensor("int64", BigInt64Array.of(16_000n), []);
  for (let index = 0; index < STEPS; index++) {
    const input = new Tensor("float32", step(index), [ROWS, INPUT_SAMPLES]);
    const outputs = await exported.run({ input, state, sr });
    expected.push(...(outputs.output!.data as Float32Array));
    state = outputs.stateN as TypedTensor<"float32">;
  }
  expect(Math.max(...expected)).toBeGreaterThan(0.99);
  expect(Math.min(...expected)).toBeLessThan(0.01);

  for (const steps of [1, 9, STEPS]) {
    const scored: number[] = [];
    state = fresh();
    for (let from = 0; from < STEPS; from += steps) {
      const windows = Array.from({ length: steps }, (_, offset) => [...step(from + offset)]).flat();
      const input = new Tensor("float32", Float32Array.from(windows), [steps, ROWS, INPUT_SAMPLES]);
      const outputs = await own.run({ windows: input, state });
      scored.push(...(outputs.output!.data as Float32Array));
      state = outputs.stateN as TypedTensor<"float32">;
    }
    expect(scored).toHaveLength(expected.length);
    for (const [index, probability] of scored.entries()) expect(probability).toBeCloseTo(expected[index]!, 5);
  }
});
