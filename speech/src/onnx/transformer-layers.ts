import type { Precision } from "../models/precision.ts";
import { ELEMENT, type GraphWriter } from "./onnx-writer.ts";

export interface Weight {
  name: string;
  type: "float32" | "float16" | "uint8";
  dims: readonly number[];
}

/** Random weights within ±0.02 keep the activations of all models finite, also in half precision. */
export const MAX_WEIGHT = 0.02;
/** Converts 8-bit weights to the same range. Their zero point is 128. */
export const EIGHT_BIT_SCALE = MAX_WEIGHT / 128;

export interface LayerShape {
  width: number;
  heads: number;
}

/**
 * Adds the layers of Whisper, in the form of published exports, to a graph with random weights. With `int8`, the inputs
 * of matrix multiplications are quantized dynamically.
 */
export class Layers {
  readonly graph: GraphWriter;
  readonly precision: Precision;
  readonly floatType: "float32" | "float16";
  readonly #addWeight: (weight: Weight) => void;
  /** Quantized tensors, keyed by the original. */
  readonly #quantized = new Map<string, [values: string, scale: string, zero: string]>();

  /** @param addWeight may be called several times with the same weight */
  constructor(graph: GraphWriter, precision: Precision, addWeight: (weight: Weight) => void) {
    this.graph = graph;
    this.precision = precision;
    this.floatType = precision === "fp16" ? "float16" : "float32";
    this.#addWeight = addWeight;
  }

  float(name: string, dims: readonly number[]): string {
    this.#addWeight({ name, type: this.floatType, dims });
    return name;
  }

  eightBits(name: string, dims: readonly number[]): string {
    this.#addWeight({ name, type: "uint8", dims });
    return name;
  }

  scalar(value: number): string {
    return this.graph.constant(this.floatType, [], [value]);
  }

  integers(...values: number[]): string {
    return this.graph.constant("int64", [values.length], values);
  }

  linear(name: string, input: string, from: number, to: number, hasBias = true): string {
    const product =
      this.precision === "int8"
        ? this.#quantizedProduct(name, input, "MatMulInteger", [from, to], {})
        : this.graph.node("MatMul", [input, this.float(`${name}.weight`, [from, to])]);
    return hasBias ? this.graph.node("Add", [this.float(`${name}.bias`, [to]), product]) : product;
  }

  /** @param input `[rows, from, frames]` */
  convolution(name: string, input: string, from: number, to: number, stride: number): string {
    const attributes = { kernel_shape: [3], pads: [1, 1], strides: [stride] };
    if (this.precision !== "int8") {
      const inputs = [input, this.float(`${name}.weight`, [to, from, 3]), this.float(`${name}.bias`, [to])];
      return this.graph.node("Conv", inputs, attributes);
    }
    const product = this.#quantizedProduct(name, input, "ConvInteger", [to, from, 3], attributes);
    return this.graph.node("Add", [product, this.float(`${name}.bias`, [1, to, 1])]);
  }

  norm(name: string, input: string, width: number): string {
    const [scale, bias] = [this.float(`${name}.weight`, [width]), this.float(`${name}.bias`, [width])];
    return this.graph.node("LayerNormalization", [input, scale, bias], { axis: -1 });
  }

  gelu(input: string): string {
    const { graph } = this;
    const error = graph.node("Erf", [graph.node("Div", [input, this.scalar(Math.SQRT2)])]);
    const doubled = graph.node("Mul", [input, graph.node("Add", [error, this.scalar(1)])]);
    return graph.node("Mul", [doubled, this.scalar(0.5)]);
  }

  feedForward(name: string, input: string, width: number): string {
    const inner = this.gelu(this.linear(`${name}.fc1`, input, width, 4 * width));
    return this.linear(`${name}.fc2`, inner, 4 * width, width);
  }

  encoderLayer(name: string, states: string, shape: LayerShape): string {
    const attention = `${name}.self_attn`;
    const input = this.norm(`${attention}_layer_norm`, states, shape.width);
    const query = this.query(attention, input, shape);
    const attended = this.attend([query, ...this.keysAndValues(attention, input, shape)], shape);
    return this.addFeedForward(name, this.addProjected(attention, states, attended, shape), shape);
  }

  addProjected(attention: string, states: string, attended: string, { width }: LayerShape): string {
    return this.graph.node("Add", [states, this.linear(`${attention}.out_proj`, attended, width, width)]);
  }

  query(attention: string, input: string, shape: LayerShape): string {
    const { width, heads } = shape;
    const query = this.linear(`${attention}.q_proj`, input, width, width);
    return this.splitHeads(this.graph.node("Mul", [query, this.scalar((width / heads) ** -0.5)]), shape);
  }

  keysAndValues(attention: string, input: string, shape: LayerShape): [string, string] {
    const { width } = shape;
    const key = this.linear(`${attention}.k_proj`, input, width, width, false);
    const value = this.linear(`${attention}.v_proj`, input, width, width);
    return [this.splitHeads(key, shape), this.splitHeads(value, shape)];
  }

  addFeedForward(name: string, states: string, { width }: LayerShape): string {
    const input = this.norm(`${name}.final_layer_norm`, states, width);
    return this.graph.node("Add", [states, this.feedForward(name, input, width)]);
  }

  /** @returns `[rows, heads, positions, headSize]` */
  splitHeads(input: string, { width, heads }: LayerShape): string {
    const split = this.graph.node("Reshape", [input, this.integers(0, 0, heads, width / heads)]);
    return this.graph.node("Transpose", [split], { perm: [0, 2, 1, 3] });
  }

  /**
   * @param query scaled; like `key` and `value`, `[rows, heads, positions, headSize]`
   * @param mask is added to the scores
   * @param attentionName name of the softmax's output
   * @returns `[rows, positions, width]`
   */
  attend(
    [query, key, value]: readonly [string, string, string],
    { width }: LayerShape,
    { mask, attentionName }: { mask?: string; attentionName?: string } = {},
  ): string {
    const { graph } = this;
    const product = graph.node("MatMul", [query, graph.node("Transpose", [key], { perm: [0, 1, 3, 2] })]);
    const scores = mask === undefined ? product : graph.node("Add", [product, mask]);
    const shares = graph.node("Softmax", [scores], { axis: -1 }, attentionName);
    const joined = graph.node("Transpose", [graph.node("MatMul", [shares, value])], { perm: [0, 2, 1, 3] });
    return graph.node("Reshape", [joined, this.integers(0, 0, width)]);
  }

  cast(input: string, type: keyof typeof ELEMENT): string {
    return this.graph.node("Cast", [input], { to: ELEMENT[type] });
  }

  /** 8-bit weights of published exports are unsigned if the model has convolutions. */
  #quantizedProduct(
    name: string,
    input: string,
    operator: "MatMulInteger" | "ConvInteger",
    dims: readonly number[],
    attributes: Record<string, readonly number[]>,
  ): string {
    const { graph } = this;
    const [values, scale, zero] = this.#quantize(input);
    const weight = this.eightBits(`${name}.weight_quantized`, dims);
    const weightZero = graph.constant("uint8", [], [128]);
    const product = graph.node(operator, [values, weight, zero, weightZero], attributes);
    const factor = graph.node("Mul", [scale, graph.constant("float32", [], [EIGHT_BIT_SCALE])]);
    return graph.node("Mul", [this.cast(product, "float32"), factor]);
  }

  #quantize(input: string): [string, string, string] {
    const known = this.#quantized.get(input);
    if (known) return known;
    const outputs: [string, string, string] = [`${input}_quantized`, `${input}_scale`, `${input}_zero_point`];
    this.graph.nodeWithOutputs("DynamicQuantizeLinear", [input], {}, outputs);
    this.#quantized.set(input, outputs);
    return outputs;
  }
}
