import type { Precision } from "@subtext/speech/models/precision";
import { ELEMENT, GraphWriter } from "@subtext/speech/onnx/onnx-writer";
import { EIGHT_BIT_SCALE, Layers, type Weight } from "@subtext/speech/onnx/transformer-layers";
import { type Dimensions, ENCODER_FRAMES, MAX_TOKENS, MEL_FRAMES } from "./dimensions.ts";
import { writeModel } from "./model-file.ts";

/** Writes an encoder of the real dimensions with random weights. */
export function writeEncoder(path: string, dimensions: Dimensions, precision: Precision): void {
  const { width, encoderLayers, melBins } = dimensions;
  const weights = new Map<string, Weight>();
  const graph = new GraphWriter("");
  const layers = new Layers(graph, precision, (weight) => weights.set(weight.name, weight));
  graph.input("input_features", "float32", ["batch_size", melBins, MEL_FRAMES]);
  const features = precision === "fp16" ? layers.cast("input_features", "float16") : "input_features";
  const first = layers.gelu(layers.convolution("conv1", features, melBins, width, 1));
  const second = layers.gelu(layers.convolution("conv2", first, width, width, 2));
  const frames = graph.node("Transpose", [second], { perm: [0, 2, 1] });
  let states = graph.node("Add", [frames, layers.float("embed_positions", [ENCODER_FRAMES, width])]);
  for (let layer = 0; layer < encoderLayers; layer++) {
    states = layers.encoderLayer(`layers.${layer}`, states, dimensions);
  }
  const output = layers.norm("layer_norm", states, width);
  if (precision === "fp16") graph.node("Cast", [output], { to: ELEMENT.float32 }, "last_hidden_state");
  else graph.node("Identity", [output], {}, "last_hidden_state");
  graph.output("last_hidden_state", "float32", ["batch_size", ENCODER_FRAMES, width]);
  writeModel(path, graph, [...weights.values()]);
}

export interface DecoderScript {
  /** The token after each position of the prompt and the text. */
  tokens: readonly number[];
  /** Encoder frames between two positions. */
  framesPerToken: number;
}

/**
 * Writes a merged decoder of the real dimensions with random weights. Random weights never end a text, so the decoder
 * adds logits that select the given tokens.
 */
export function writeDecoder(
  path: string,
  dimensions: Dimensions,
  precision: Precision,
  script: DecoderScript,
): void {
  const { width, heads, decoderLayers, vocabularySize } = dimensions;
  const headSize = width / heads;
  const weights = new Map<string, Weight>();
  const graph = new GraphWriter("");
  graph.input("input_ids", "int64", ["batch_size", "decoder_sequence_length"]);
  graph.input("encoder_hidden_states", "float32", ["batch_size", "encoder_sequence_length", width]);
  const caches = Array.from({ length: decoderLayers }, (_, layer) =>
    ["decoder.key", "decoder.value", "encoder.key", "encoder.value"].map((cache) => `${layer}.${cache}`),
  ).flat();
  for (const cache of caches) {
    const length = cache.includes("decoder") ? "past_decoder_length" : "past_encoder_length";
    graph.input(`past_key_values.${cache}`, "float32", ["batch_size", heads, length, headSize]);
  }
  graph.input("use_cache_branch", "bool", [1]);
  graph.constant("int64", [MAX_TOKENS], script.tokens, SCRIPT);
  const outputs = ["logits", ...caches.map((cache) => `present.${cache}`)];
  const branches = {
    then_branch: decoderBranch(true, dimensions, precision, weights, script.framesPerToken),
    else_branch: decoderBranch(false, dimensions, precision, weights, script.framesPerToken),
  };
  graph.nodeWithOutputs("If", ["use_cache_branch"], branches, outputs);
  graph.output("logits", "float32", ["batch_size", "decoder_sequence_length", vocabularySize]);
  for (const output of outputs.slice(1)) {
    graph.output(output, "float32", ["batch_size", heads, `${output}.length`, headSize]);
  }
  writeModel(path, graph, [...weights.values()]);
}

const SCRIPT = "script_tokens";
/** Raises the logit of the token of the script above all random ones. */
const SCRIPT_LOGIT = 60;
const MASKED = -1e9;

/** @param cached whether the branch continues from caches */
function decoderBranch(
  cached: boolean,
  dimensions: Dimensions,
  precision: Precision,
  weights: Map<string, Weight>,
  framesPerToken: number,
): Uint8Array {
  const { width, heads, decoderLayers, vocabularySize } = dimensions;
  const headSize = width / heads;
  const branch = cached ? "then" : "else";
  const graph = new GraphWriter(`${branch}.`);
  const layers = new Layers(graph, precision, (weight) => weights.set(weight.name, weight));
  const lengthOf = (tensor: string, axis: number) =>
    graph.node("Gather", [graph.node("Shape", [tensor]), graph.constant("int64", [], [axis])]);
  const [zero, one] = [graph.constant("int64", [], [0]), graph.constant("int64", [], [1])];
  const past = cached ? lengthOf("past_key_values.0.decoder.key", 2) : zero;
  const length = graph.node("Add", [past, lengthOf("input_ids", 1)]);
  const positions = graph.node("Range", [past, length, one]);
  const keys = graph.node("Range", [zero, length, one]);
  const visible = graph.node("LessOrEqual", [
    graph.node("Unsqueeze", [keys, layers.integers(0)]),
    graph.node("Unsqueeze", [positions, layers.integers(1)]),
  ]);
  const mask = graph.node("Where", [visible, layers.scalar(0), layers.scalar(MASKED)]);

  // Makes attention advance through the window with the text. Otherwise, word times would not cover the speech, and the
  // recognizer would look for words that were missed.
  const frames = layers.cast(
    graph.node("Range", [zero, graph.constant("int64", [], [ENCODER_FRAMES]), one]),
    "float32",
  );
  const attended = graph.node("Mul", [layers.cast(positions, "float32"), layers.scalar(framesPerToken)]);
  const distance = graph.node("Sub", [graph.node("Unsqueeze", [attended, layers.integers(1)]), frames]);
  const advance = graph.node("Neg", [graph.node("Abs", [distance])]);

  const result = (name: string, value: string) => {
    graph.node("Identity", [value], {}, `${branch}.${name}`);
    graph.output(`${branch}.${name}`, "float32", null);
  };
  const present: [name: string, value: string][] = [];
  const embedding = tokenEmbedding(layers, width, vocabularySize);
  const positionEmbedding = layers.float("embed_positions", [MAX_TOKENS, width]);
  let states = graph.node("Add", [
    embedding.embed("input_ids"),
    graph.node("Gather", [positionEmbedding, positions]),
  ]);
  for (let layer = 0; layer < decoderLayers; layer++) {
    const name = `layers.${layer}`;
    const input = layers.norm(`${name}.self_attn_layer_norm`, states, width);
    const query = layers.query(`${name}.self_attn`, input, dimensions);
    const [key, value] = layers.keysAndValues(`${name}.self_attn`, input, dimensions).map((added, index) => {
      const cache = `past_key_values.${layer}.decoder.${index === 0 ? "key" : "value"}`;
      return cached ? graph.node("Concat", [cache, added], { axis: 2 }) : added;
    }) as [string, string];
    present.push([`present.${layer}.decoder.key`, key], [`present.${layer}.decoder.value`, value]);
    const selfAttended = layers.attend([query, key, value], dimensions, { mask });
    states = layers.addProjected(`${name}.self_attn`, states, selfAttended, dimensions);

    const crossInput = layers.norm(`${name}.encoder_attn_layer_norm`, states, width);
    const crossQuery = layers.query(`${name}.encoder_attn`, crossInput, dimensions);
    const cross = cached
      ? ([`past_key_values.${layer}.encoder.key`, `past_key_values.${layer}.encoder.value`] as const)
      : layers.keysAndValues(`${name}.encoder_attn`, "encoder_hidden_states", dimensions);
    // As in merged exports, the branch that continues returns nothing for the encoder's caches.
    const nothing = graph.constant("float32", [0, heads, 1, headSize], []);
    for (const [index, cache] of ["key", "value"].entries()) {
      present.push([`present.${layer}.encoder.${cache}`, cached ? nothing : cross[index]!]);
    }
    const crossAttended = layers.attend([crossQuery, ...cross], dimensions, {
      mask: advance,
      attentionName: `/model/decoder/layers.${layer}/encoder_attn/Softmax_output_0`,
    });
    states = layers.addProjected(`${name}.encoder_attn`, states, crossAttended, dimensions);
    states = layers.addFeedForward(name, states, dimensions);
  }
  const scripted = graph.node(
    "OneHot",
    [
      graph.node("Gather", [SCRIPT, positions]),
      graph.constant("int64", [], [vocabularySize]),
      graph.constant("float32", [2], [0, SCRIPT_LOGIT]),
    ],
    { axis: -1 },
  );
  const logits = embedding.project(layers.norm("layer_norm", states, width));
  result("logits", graph.node("Add", [logits, scripted]));
  for (const [name, value] of present) result(name, value);
  return graph.finish();
}

/** The output projection shares its weights with the token embedding. 8-bit exports store them transposed. */
function tokenEmbedding(layers: Layers, width: number, vocabularySize: number) {
  const { graph } = layers;
  if (layers.precision !== "int8") {
    const weight = layers.float("embed_tokens", [vocabularySize, width]);
    return {
      embed: (tokens: string) => graph.node("Gather", [weight, tokens]),
      project: (states: string) =>
        graph.node("MatMul", [states, graph.node("Transpose", [weight], { perm: [1, 0] })]),
    };
  }
  const weight = layers.eightBits("embed_tokens_transposed_quantized", [width, vocabularySize]);
  const scale = graph.constant("float32", [], [EIGHT_BIT_SCALE]);
  const zero = graph.constant("uint8", [], [128]);
  const dequantized = (values: string) => graph.node("DequantizeLinear", [values, scale, zero]);
  return {
    embed: (tokens: string) =>
      graph.node("Transpose", [dequantized(graph.node("Gather", [weight, tokens], { axis: 1 }))], {
        perm: [1, 2, 0],
      }),
    project: (states: string) => graph.node("MatMul", [states, dequantized(weight)]),
  };
}
