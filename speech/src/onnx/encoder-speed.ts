import { InferenceSession, Tensor } from "onnxruntime-node";
import type { EncoderSpeed } from "../models/estimated-speed.ts";
import type { Precision } from "../models/precision.ts";
import { GraphWriter, onnxModel } from "./onnx-writer.ts";
import { Layers, MAX_WEIGHT, type Weight } from "./transformer-layers.ts";

/** A layer of `whisper-base` and its frames for 30 seconds of audio. */
const FRAMES = 1500;
const SHAPE = { width: 512, heads: 8 };
const MEASURED_MS = 2_000;

/** Returns the floating-point operations of an encoder layer for one window. */
function layerOperations(width: number, frames: number): number {
  return 2 * frames * (12 * width ** 2 + 2 * frames * width);
}

/**
 * Measures an encoder layer with 8-bit and with single-precision weights, for about two seconds. Blocks the thread.
 * Returns the best of several alternating runs, because other load on the machine only makes runs slower.
 */
export async function measureEncoderSpeed(threads: number): Promise<EncoderSpeed> {
  const sessions = { int8: await openLayer("int8", threads), fp32: await openLayer("fp32", threads) };
  const bestMs = { int8: Number.POSITIVE_INFINITY, fp32: Number.POSITIVE_INFINITY };
  const input = new Tensor("float32", floats(FRAMES * SHAPE.width), [1, FRAMES, SHAPE.width]);
  try {
    const end = performance.now() + MEASURED_MS;
    do {
      for (const precision of ["int8", "fp32"] as const) {
        const startedAt = performance.now();
        await sessions[precision].run({ input });
        bestMs[precision] = Math.min(bestMs[precision], performance.now() - startedAt);
      }
    } while (performance.now() < end);
  } finally {
    await Promise.all(Object.values(sessions).map((session) => session.release()));
  }
  const speed = (ms: number) => layerOperations(SHAPE.width, FRAMES) / 1e6 / ms;
  return { int8: speed(bestMs.int8), fp32: speed(bestMs.fp32) };
}

async function openLayer(precision: Precision, threads: number): Promise<InferenceSession> {
  const graph = new GraphWriter("");
  const shape = ["batch_size", FRAMES, SHAPE.width];
  graph.input("input", "float32", shape);
  const layers = new Layers(graph, precision, (weight) => addConstant(graph, weight));
  graph.node("Identity", [layers.encoderLayer("layer", "input", SHAPE)], {}, "output");
  graph.output("output", "float32", shape);
  return await InferenceSession.create(onnxModel(graph), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  });
}

function addConstant(graph: GraphWriter, { name, type, dims }: Weight): void {
  const count = dims.reduce((product, dim) => product * dim, 1);
  graph.constant(type, dims, type === "uint8" ? bytes(count) : floats(count), name);
}

/** The values do not affect the run time, unless they are zero or very small. */
function floats(count: number): Float32Array<ArrayBuffer> {
  return new Float32Array(count).map((_, index) => MAX_WEIGHT * (((index * 7_919) % 1000) / 500 - 0.999));
}

function bytes(count: number): Uint8Array {
  return new Uint8Array(count).map((_, index) => (index * 7_919) % 256);
}
