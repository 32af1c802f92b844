import { ELEMENT, type ElementType, GraphWriter, onnxModel } from "../../../src/onnx/onnx-writer.ts";

/** Sizes of a synthetic model and its scripted output. */
export interface MadeGraphs {
  melBins: number;
  melFrames: number;
  encoderFrames: number;
  layers: number;
  heads: number;
  headSize: number;
  vocabularySize: number;
  maxTokens: number;
  /** Logits, `[scripts, maxTokens, vocabularySize]`. */
  logits: Float32Array;
  /** The encoder frame that attention points at, `[scripts, maxTokens]`. */
  lookedAt: Float32Array;
  scripts: number;
  /** `[vocabularySize]`: the script that a token switches to, or 0. */
  switches: Float32Array;
  /** Heads that attend to one frame; the others attend to all frames equally. */
  isAlignmentHead(layer: number, head: number): boolean;
  /** Element type of encoder states and logits, and of the caches. */
  valueType: "float32" | "float16";
  cacheType: "float32" | "float16";
  /** How attention is exposed: by tensor names, also as outputs, or not at all. */
  attention: "tensors" | "outputs" | "fused";
  attentionName(layer: number, branch: "then" | "else"): string;
  /**
   * Whether the last projection is an 8-bit matrix outside of the branches, as in exports that share the output
   * projection with the token embedding.
   */
  eightBitProjection: boolean;
  /** Whether the positions of the tokens are an input, instead of being computed from the caches. */
  takesPositions: boolean;
}

/**
 * An encoder that selects a script: the mel bins are divided evenly among the scripts, and the loudest bin
 * decides. Its states hold only the index of the script.
 */
export function madeEncoder(made: MadeGraphs): Uint8Array {
  const graph = new GraphWriter("");
  const width = made.heads * made.headSize;
  const features = graph.input("input_features", made.valueType, [
    "batch_size",
    made.melBins,
    made.melFrames,
  ]);
  const means = graph.node("ReduceMean", [as(graph, features, "float32")], { axes: [2], keepdims: 0 });
  const loudest = graph.node("ArgMax", [means], { axis: 1, keepdims: 1 });
  const scaled = graph.node("Mul", [loudest, graph.constant("int64", [], [made.scripts])]);
  const script = graph.node("Div", [scaled, graph.constant("int64", [], [made.melBins])]);
  const shape = graph.node(
    "Concat",
    [dimension(graph, features, [0]), graph.constant("int64", [2], [made.encoderFrames, width])],
    { axis: 0 },
  );
  const column = graph.node("Unsqueeze", [as(graph, script, "float32"), graph.constant("int64", [1], [2])]);
  const states = as(graph, graph.node("Expand", [column, shape]), made.valueType);
  graph.node("Identity", [states], {}, "last_hidden_state");
  graph.output("last_hidden_state", made.valueType, ["batch_size", made.encoderFrames, width]);
  return onnxModel(graph);
}

/**
 * A merged decoder with caches: one `If` on `use_cache_branch`. It returns the script's logits for each position. The caches
 * contain the selected script and the switches read so far, so a cache that is lost or swapped between rows leads to
 * wrong results, as in a real decoder.
 */
export function madeDecoder(made: MadeGraphs): Uint8Array {
  const graph = new GraphWriter("");
  const width = made.heads * made.headSize;
  graph.constant("float32", [made.scripts * made.maxTokens, made.vocabularySize], made.logits, LOGITS);
  if (made.attention !== "fused") {
    graph.constant("float32", [made.scripts * made.maxTokens], made.lookedAt, LOOKED_AT);
  }
  graph.constant("float32", [made.vocabularySize], made.switches, SWITCHES);
  if (made.eightBitProjection) addIdentityMatrix(graph, made.vocabularySize);

  graph.input("input_ids", "int64", ["batch_size", "decoder_sequence_length"]);
  graph.input("encoder_hidden_states", made.valueType, ["batch_size", "encoder_sequence_length", width]);
  for (const name of cacheNames(made)) {
    const length = name.includes("decoder") ? "past_decoder_length" : "past_encoder_length";
    graph.input(`past_key_values.${name}`, made.cacheType, ["batch_size", made.heads, length, made.headSize]);
  }
  graph.input("use_cache_branch", "bool", [1]);
  if (made.takesPositions) graph.input("cache_position", "int64", ["decoder_sequence_length"]);

  const outputs = outputNames(made);
  graph.nodeWithOutputs(
    "If",
    ["use_cache_branch"],
    { then_branch: branch(made, "then"), else_branch: branch(made, "else") },
    outputs,
  );
  for (const name of outputs) {
    if (name === "logits") {
      graph.output(name, made.valueType, ["batch_size", "decoder_sequence_length", made.vocabularySize]);
    } else if (name.startsWith("cross_attentions")) {
      graph.output(name, made.valueType, ["batch_size", made.heads, "decoder_sequence_length", "frames"]);
    } else {
      graph.output(name, made.cacheType, ["batch_size", made.heads, `${name}.length`, made.headSize]);
    }
  }
  return onnxModel(graph);
}

const LOGITS = "script_logits";
const LOOKED_AT = "script_looked_at";
const SWITCHES = "script_switches";
const PROJECTION = {
  weights: "weight_transposed_quantized",
  scale: "weight_merged_0_scale",
  zero: "weight_merged_0_zero_point",
};

/** Adds an 8-bit projection that leaves the logits unchanged. */
function addIdentityMatrix(graph: GraphWriter, size: number): void {
  const zero = 128;
  const weights = new Uint8Array(size ** 2).fill(zero);
  for (let row = 0; row < size; row++) weights[row * size + row] = zero + 1;
  graph.constant("uint8", [size, size], weights, PROJECTION.weights);
  graph.constant("float32", [], [1], PROJECTION.scale);
  graph.constant("uint8", [], [zero], PROJECTION.zero);
}

function cacheNames({ layers }: MadeGraphs): string[] {
  return Array.from({ length: layers }, (_, layer) =>
    ["decoder.key", "decoder.value", "encoder.key", "encoder.value"].map((cache) => `${layer}.${cache}`),
  ).flat();
}

function outputNames(made: MadeGraphs): string[] {
  const attentions =
    made.attention === "outputs"
      ? Array.from({ length: made.layers }, (_, layer) => `cross_attentions.${layer}`)
      : [];
  return ["logits", ...cacheNames(made).map((name) => `present.${name}`), ...attentions];
}

/** `then` is the branch that continues from caches, `else` the first step. */
function branch(made: MadeGraphs, which: "then" | "else"): Uint8Array {
  const graph = new GraphWriter(`${which}.`);
  const cached = which === "then";
  const pastKey = "past_key_values.0.decoder.key";
  const pastEncoderKey = "past_key_values.0.encoder.key";
  const batch = dimension(graph, "input_ids", [0]);
  const tokens = dimension(graph, "input_ids", 1);
  const past = cached ? dimension(graph, pastKey, 2) : graph.constant("int64", [], [0]);
  const length = graph.node("Add", [past, tokens]);
  const frames = cached ? dimension(graph, pastEncoderKey, 2) : dimension(graph, "encoder_hidden_states", 1);

  // [batch]: the script that the encoder selected.
  const selected = as(
    graph,
    cached ? first(graph, pastEncoderKey, 1, 1, 1) : first(graph, "encoder_hidden_states", 1, 1),
    "float32",
  );
  // [batch, heads, length, headSize]: the switches read so far.
  const newKey = cacheOf(graph, made, {
    values: graph.node("Gather", [SWITCHES, "input_ids"]),
    axes: [1, 3],
    batch,
    length: tokens,
  });
  const key = cached ? graph.node("Concat", [pastKey, newKey], { axis: 2 }) : newKey;
  const switches = as(graph, first(graph, key, 1, 2), "float32");

  // [batch, tokens]: the script in effect at each position.
  const one = graph.constant("int64", [], [1]);
  const zero = graph.constant("int64", [], [0]);
  const positions = made.takesPositions ? "cache_position" : graph.node("Range", [past, length, one]);
  const visible = graph.node("LessOrEqual", [
    unsqueeze(graph, graph.node("Range", [zero, length, one]), 0),
    unsqueeze(graph, positions, 1),
  ]);
  const seen = graph.node("Where", [
    visible,
    unsqueeze(graph, switches, 1),
    graph.constant("float32", [], [0]),
  ]);
  const script = graph.node("Max", [
    graph.node("ReduceMax", [seen], { axes: [2], keepdims: 0 }),
    unsqueeze(graph, selected, 1),
  ]);
  const scriptStart = graph.node("Mul", [
    as(graph, script, "int64"),
    graph.constant("int64", [], [made.maxTokens]),
  ]);
  const row = graph.node("Add", [scriptStart, positions]);

  const result = (name: string, value: string, type: ElementType) => {
    graph.node("Identity", [value], {}, `${which}.${name}`);
    graph.output(`${which}.${name}`, type, null);
  };
  const hidden = graph.node("Gather", [LOGITS, row]);
  const logits = made.eightBitProjection
    ? graph.node("MatMul", [hidden, graph.node("DequantizeLinear", Object.values(PROJECTION))])
    : hidden;
  result("logits", as(graph, logits, made.valueType), made.valueType);

  // As in merged exports, the branch that continues returns nothing for the encoder's half of the caches.
  const encoderCache = cached
    ? as(graph, graph.constant("float32", [0, made.heads, 1, made.headSize], []), made.cacheType)
    : cacheOf(graph, made, { values: selected, axes: [1, 2, 3], batch, length: frames });
  for (const name of cacheNames(made)) {
    result(`present.${name}`, name.includes("decoder") ? key : encoderCache, made.cacheType);
  }
  if (made.attention !== "fused") {
    const lookedAt = unsqueeze(graph, graph.node("Gather", [LOOKED_AT, row]), 2);
    const frameNumbers = as(graph, graph.node("Range", [zero, frames, one]), "float32");
    const distance = graph.node("Abs", [graph.node("Sub", [lookedAt, frameNumbers])]);
    for (let layer = 0; layer < made.layers; layer++) {
      const attention = attend(graph, made, layer, distance, made.attentionName(layer, which));
      if (made.attention === "outputs") result(`cross_attentions.${layer}`, attention, made.valueType);
    }
  }
  return graph.finish();
}

/** `[batch, heads, tokens, frames]`: sharp around the frame looked at, or flat. */
function attend(graph: GraphWriter, made: MadeGraphs, layer: number, distance: string, name: string): string {
  const sharpness = Array.from({ length: made.heads }, (_, head) =>
    made.isAlignmentHead(layer, head) ? -1 : 0,
  );
  const scores = graph.node("Mul", [
    unsqueeze(graph, distance, 1),
    graph.constant("float32", [1, made.heads, 1, 1], sharpness),
  ]);
  return graph.node("Softmax", [as(graph, scores, made.valueType)], { axis: -1 }, name);
}

interface CacheContent {
  values: string;
  /** Axes that `values` lacks of `[batch, heads, length, headSize]`. */
  axes: readonly number[];
  batch: string;
  length: string;
}

/** Returns a cache that repeats `values` in every head and every element of a head. */
function cacheOf(
  graph: GraphWriter,
  made: MadeGraphs,
  { values, axes, batch, length }: CacheContent,
): string {
  const shape = graph.node(
    "Concat",
    [
      batch,
      graph.constant("int64", [1], [made.heads]),
      unsqueeze(graph, length, 0),
      graph.constant("int64", [1], [made.headSize]),
    ],
    { axis: 0 },
  );
  const spread = graph.node("Unsqueeze", [values, graph.constant("int64", [axes.length], axes)]);
  return as(graph, graph.node("Expand", [spread, shape]), made.cacheType);
}

function as(graph: GraphWriter, value: string, type: ElementType): string {
  return graph.node("Cast", [value], { to: ELEMENT[type] });
}

function unsqueeze(graph: GraphWriter, value: string, axis: number): string {
  return graph.node("Unsqueeze", [value, graph.constant("int64", [1], [axis])]);
}

/** Returns one dimension of a value: `[n]` if the axis is given as a list, otherwise a scalar. */
function dimension(graph: GraphWriter, value: string, axis: number | readonly [number]): string {
  const axes = typeof axis === "number" ? [axis] : axis;
  const index = graph.constant("int64", typeof axis === "number" ? [] : [1], axes);
  return graph.node("Gather", [graph.node("Shape", [value]), index]);
}

/** Selects the first element along each axis in turn. */
function first(graph: GraphWriter, value: string, ...axes: number[]): string {
  return axes.reduce(
    (from, axis) => graph.node("Gather", [from, graph.constant("int64", [], [0])], { axis }),
    value,
  );
}
