import {
  ATTRIBUTE_GRAPH,
  GRAPH_NODE,
  lengthDelimited,
  MODEL_GRAPH,
  NODE_ATTRIBUTE,
  NODE_OP_TYPE,
  NODE_OUTPUT,
  stringField,
} from "../onnx/onnx-protobuf.ts";
import { GraphWriter, onnxModel } from "../onnx/onnx-writer.ts";

/** Samples per window at 16 kHz, including the end of the previous window. */
export const INPUT_SAMPLES = 576;
export const STATE_SIZE = 128;

const ATTRIBUTE_TENSOR = 5;
const TENSOR_RAW_DATA = 9;

/** The spectrum of a window: 4 frames, 128 samples apart. */
const FRAME_SAMPLES = 256;
const HOP_SAMPLES = 128;
const FRAMES = 4;
const FREQUENCIES = FRAME_SAMPLES / 2 + 1;
const TAPS = 3;
/** Channels of the four convolutions. */
const CHANNELS = [128, 64, 64, STATE_SIZE] as const;

/**
 * Builds a graph that scores many windows in one run, from the weights of the exported Silero VAD v5. The exported graph
 * scores one window of each row per run, and its small matrices and shape checks take three quarters of the time.
 *
 * Input `windows` is `[steps, rows, 576]`, input `state` and output `stateN` are `[2, rows, 128]`, and output `output` is
 * `[steps × rows, 1]`.
 * @param exported contents of `silero_vad_v5.onnx`
 */
export function sileroGraph(exported: Uint8Array): Uint8Array {
  const weights = weightsAt16kHz(exported);
  const graph = new GraphWriter("");
  const integers = (...values: number[]) => graph.constant("int64", [values.length], values);
  const matrix = (values: Float32Array, columns: number) =>
    graph.constant("float32", [values.length / columns, columns], values);
  const reshape = (input: string, ...shape: number[]) => graph.node("Reshape", [input, integers(...shape)]);
  const pad = (input: string, before: number, after: number) =>
    graph.node("Pad", [input, integers(0, before, 0, 0, after, 0)]);
  /** Takes `count` values of the second dimension. */
  const take = (input: string, start: number, count: number) =>
    graph.node("Slice", [input, integers(start), integers(start + count), integers(1)]);
  const layer = (index: number, input: string, taps: readonly number[]) => {
    const name = `encoder.${index}.reparam_conv`;
    const outputs = CHANNELS[index]!;
    const bias = graph.constant("float32", [outputs], weights(`${name}.bias`));
    const kernel = matrix(kernelMatrix(weights(`${name}.weight`), outputs, taps), outputs);
    return graph.node("Relu", [graph.node("Gemm", [input, kernel, bias])]);
  };

  const windows = graph.input("windows", "float32", ["steps", "rows", INPUT_SAMPLES]);
  const state = graph.input("state", "float32", [2, "rows", STATE_SIZE]);

  const lengthened = graph.node(
    "Pad",
    [reshape(windows, -1, INPUT_SAMPLES), integers(0, 0, 0, HOP_SAMPLES / 2)],
    {
      mode: "reflect",
    },
  );
  const hops = reshape(lengthened, -1, FRAMES + 1, HOP_SAMPLES);
  const frames = graph.node("Concat", [take(hops, 0, FRAMES), take(hops, 1, FRAMES)], { axis: 2 });
  const basis = matrix(transposed(weights("stft.forward_basis_buffer"), FRAME_SAMPLES), 2 * FREQUENCIES);
  const spectrum = graph.node("MatMul", [reshape(frames, -1, FRAME_SAMPLES), basis]);
  const [real, imaginary] = [take(spectrum, 0, FREQUENCIES), take(spectrum, FREQUENCIES, FREQUENCIES)];
  const power = graph.node("Add", [
    graph.node("Mul", [real, real]),
    graph.node("Mul", [imaginary, imaginary]),
  ]);
  const magnitudes = graph.node("Sqrt", [power]);

  // Convolutions over time with three taps are matrix products of concatenated frames.
  const first = pad(reshape(magnitudes, -1, FRAMES, FREQUENCIES), 1, 1);
  const everyFrame = graph.node(
    "Concat",
    [0, 1, 2].map((start) => take(first, start, FRAMES)),
    { axis: 2 },
  );
  const encoded = layer(0, reshape(everyFrame, -1, TAPS * FREQUENCIES), [0, 1, 2]);
  const second = pad(reshape(encoded, -1, FRAMES, CHANNELS[0]), 1, 0);
  const everySecond = graph.node(
    "Concat",
    [0, 2].map((start) => reshape(take(second, start, TAPS), -1, 1, TAPS * CHANNELS[0])),
    { axis: 1 },
  );
  const halved = layer(1, reshape(everySecond, -1, TAPS * CHANNELS[0]), [0, 1, 2]);
  // The other taps of the last two convolutions are outside the window.
  const joined = layer(2, reshape(halved, -1, 2 * CHANNELS[1]), [1, 2]);
  const features = layer(3, joined, [1]);

  const stepsAndRows = graph.node("Slice", [graph.node("Shape", [windows]), integers(0), integers(2)]);
  const shape = graph.node("Concat", [stepsAndRows, integers(STATE_SIZE)], { axis: 0 });
  const gates = (name: string) => gatesInOrder(weights(`decoder.rnn.${name}`));
  const bias = Float32Array.of(...gates("bias_ih"), ...gates("bias_hh"));
  graph.nodeWithOutputs("Split", [state], { axis: 0 }, ["hidden", "cell"]);
  graph.nodeWithOutputs(
    "LSTM",
    [
      graph.node("Reshape", [features, shape]),
      graph.constant("float32", [1, 4 * STATE_SIZE, STATE_SIZE], gates("weight_ih")),
      graph.constant("float32", [1, 4 * STATE_SIZE, STATE_SIZE], gates("weight_hh")),
      graph.constant("float32", [1, 8 * STATE_SIZE], bias),
      "",
      "hidden",
      "cell",
    ],
    { hidden_size: STATE_SIZE },
    ["hiddens", "lastHidden", "lastCell"],
  );
  graph.node("Concat", ["lastHidden", "lastCell"], { axis: 0 }, "stateN");
  const logits = graph.node("Gemm", [
    reshape(graph.node("Relu", ["hiddens"]), -1, STATE_SIZE),
    matrix(weights("decoder.decoder.2.weight"), 1),
    graph.constant("float32", [1], weights("decoder.decoder.2.bias")),
  ]);
  graph.node("Sigmoid", [logits], {}, "output");
  graph.output("output", "float32", ["windows", 1]);
  graph.output("stateN", "float32", [2, "rows", STATE_SIZE]);
  return onnxModel(graph);
}

/** Returns a function that reads a weight by its name in the original model. */
function weightsAt16kHz(exported: Uint8Array): (name: string) => Float32Array {
  const [graph] = lengthDelimited(exported, MODEL_GRAPH);
  if (graph === undefined) throw new Error("The file contains no graph.");
  const constants = new Map<string, Uint8Array>();
  for (const branch of attributesOf(graph, "If").flatMap((attribute) =>
    lengthDelimited(attribute, ATTRIBUTE_GRAPH),
  )) {
    for (const node of lengthDelimited(branch, GRAPH_NODE)) {
      const name = stringField(node, NODE_OUTPUT);
      if (name.startsWith(BRANCH_16_KHZ)) constants.set(name.slice(BRANCH_16_KHZ.length), node);
    }
  }
  return (name) => {
    const node = constants.get(name);
    const [attribute] = node ? lengthDelimited(node, NODE_ATTRIBUTE) : [];
    const [tensor] = attribute ? lengthDelimited(attribute, ATTRIBUTE_TENSOR) : [];
    const [data] = tensor ? lengthDelimited(tensor, TENSOR_RAW_DATA) : [];
    if (data === undefined) throw new Error(`The file contains no weight ${name}.`);
    return new Float32Array(new Uint8Array(data).buffer);
  };
}

const BRANCH_16_KHZ = "If_0_then_branch__Inline_0__";

function attributesOf(graph: Uint8Array, opType: string): Uint8Array[] {
  return lengthDelimited(graph, GRAPH_NODE)
    .filter((node) => stringField(node, NODE_OP_TYPE) === opType)
    .flatMap((node) => lengthDelimited(node, NODE_ATTRIBUTE));
}

/** Returns the transpose of a matrix in row-major order. */
function transposed(values: Float32Array, columns: number): Float32Array {
  const rows = values.length / columns;
  return values.map((_, index) => values[(index % rows) * columns + Math.floor(index / rows)]!);
}

/** Converts the kernel of a convolution, `[outputs, inputs, taps]`, to `[taps × inputs, outputs]`. */
function kernelMatrix(kernel: Float32Array, outputs: number, taps: readonly number[]): Float32Array {
  const inputs = kernel.length / outputs / TAPS;
  return Float32Array.from({ length: taps.length * inputs * outputs }, (_, index) => {
    const output = index % outputs;
    const row = Math.floor(index / outputs);
    return kernel[(output * inputs + (row % inputs)) * TAPS + taps[Math.floor(row / inputs)]!]!;
  });
}

/** Reorders gates from input, forget, cell, output to the order of ONNX: input, output, forget, cell. */
function gatesInOrder(values: Float32Array): Float32Array {
  const size = values.length / 4;
  const ordered = new Float32Array(values.length);
  for (const [index, gate] of [0, 3, 1, 2].entries()) {
    ordered.set(values.subarray(gate * size, (gate + 1) * size), index * size);
  }
  return ordered;
}
