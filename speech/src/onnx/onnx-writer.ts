import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Element types of onnx.proto. */
export const ELEMENT = { float32: 1, uint8: 2, int64: 7, bool: 9, float16: 10 } as const;
export type ElementType = keyof typeof ELEMENT;

/** Field numbers of onnx.proto. */
export const GRAPH_INITIALIZER = 5;
export const TENSOR_RAW_DATA = 9;

const ATTRIBUTE_TYPE = { integer: 2, text: 3, graph: 5, integers: 7 } as const;

/** An attribute of an operator: an integer, integers, text, or the graph of a branch. */
export type Attribute = number | readonly number[] | string | Uint8Array;

/** Builds a graph. Its values are identified by name. */
export class GraphWriter {
  readonly #writer = new BinaryWriter();
  readonly #prefix: string;
  #values = 0;

  /** @param prefix of the names of values. A branch needs another prefix than the graph that contains it. */
  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#writer.tag(2, WireType.LengthDelimited).string(`${prefix}graph`);
  }

  /** Adds a node with one output and returns the name of the output. */
  node(
    type: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    output = `${this.#prefix}${type}_${this.#values++}`,
  ): string {
    this.nodeWithOutputs(type, inputs, attributes, [output]);
    return output;
  }

  nodeWithOutputs(
    type: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute>,
    outputs: readonly string[],
  ): void {
    const writer = new BinaryWriter();
    for (const input of inputs) writer.tag(1, WireType.LengthDelimited).string(input);
    for (const output of outputs) writer.tag(2, WireType.LengthDelimited).string(output);
    // Exporters name a node after its first output: the output of /model/…/Softmax is /model/…/Softmax_output_0.
    writer.tag(3, WireType.LengthDelimited).string(outputs[0]?.replace(/_output_0$/, "") ?? type);
    writer.tag(4, WireType.LengthDelimited).string(type);
    for (const [name, value] of Object.entries(attributes)) {
      writer.tag(5, WireType.LengthDelimited).bytes(attributeMessage(name, value));
    }
    this.#writer.tag(1, WireType.LengthDelimited).bytes(writer.finish());
  }

  /** Adds a constant and returns its name. */
  constant(
    type: ConstantType,
    dims: readonly number[],
    values: Iterable<number>,
    name = `${this.#prefix}constant_${this.#values++}`,
  ): string {
    const { buffer } = arrayOf(type, values);
    const writer = tensorHeader(name, type, dims);
    writer.tag(TENSOR_RAW_DATA, WireType.LengthDelimited).bytes(new Uint8Array(buffer));
    this.#writer.tag(GRAPH_INITIALIZER, WireType.LengthDelimited).bytes(writer.finish());
    return name;
  }

  input(name: string, type: ElementType, shape: readonly (number | string)[]): string {
    this.#writer.tag(11, WireType.LengthDelimited).bytes(valueMessage(name, type, shape));
    return name;
  }

  output(name: string, type: ElementType, shape: readonly (number | string)[] | null): void {
    this.#writer.tag(12, WireType.LengthDelimited).bytes(valueMessage(name, type, shape));
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }
}

type ConstantType = Exclude<ElementType, "bool">;

function arrayOf(type: ConstantType, values: Iterable<number>) {
  switch (type) {
    case "float32":
      return Float32Array.from(values);
    case "float16":
      return Float16Array.from(values);
    case "uint8":
      return Uint8Array.from(values);
    case "int64":
      return BigInt64Array.from([...values].map(BigInt));
  }
}

/** Encodes a `TensorProto` without its data. */
export function tensorHeader(name: string, type: ElementType, dims: readonly number[]): BinaryWriter {
  const writer = new BinaryWriter();
  for (const dim of dims) writer.tag(1, WireType.Varint).int64(dim);
  writer.tag(2, WireType.Varint).int32(ELEMENT[type]);
  return writer.tag(8, WireType.LengthDelimited).string(name);
}

export function onnxModel(graph: GraphWriter): Uint8Array {
  const opset = new BinaryWriter().tag(2, WireType.Varint).int64(17).finish();
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int64(8)
    .tag(7, WireType.LengthDelimited)
    .bytes(graph.finish())
    .tag(8, WireType.LengthDelimited)
    .bytes(opset)
    .finish();
}

function attributeMessage(name: string, value: Attribute): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(name);
  const type = (code: number) => writer.tag(20, WireType.Varint).int32(code);
  if (typeof value === "number") {
    writer.tag(3, WireType.Varint).int64(value);
    type(ATTRIBUTE_TYPE.integer);
  } else if (typeof value === "string") {
    writer.tag(4, WireType.LengthDelimited).string(value);
    type(ATTRIBUTE_TYPE.text);
  } else if (value instanceof Uint8Array) {
    writer.tag(6, WireType.LengthDelimited).bytes(value);
    type(ATTRIBUTE_TYPE.graph);
  } else {
    for (const integer of value) writer.tag(8, WireType.Varint).int64(integer);
    type(ATTRIBUTE_TYPE.integers);
  }
  return writer.finish();
}

/** Encodes a `ValueInfoProto`. A string in the shape names a dimension of unknown size. */
function valueMessage(
  name: string,
  type: ElementType,
  shape: readonly (number | string)[] | null,
): Uint8Array {
  const tensor = new BinaryWriter().tag(1, WireType.Varint).int32(ELEMENT[type]);
  if (shape) {
    tensor.tag(2, WireType.LengthDelimited).fork();
    for (const dim of shape) {
      tensor.tag(1, WireType.LengthDelimited).fork();
      if (typeof dim === "number") tensor.tag(1, WireType.Varint).int64(dim);
      else tensor.tag(2, WireType.LengthDelimited).string(dim);
      tensor.join();
    }
    tensor.join();
  }
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(name)
    .tag(2, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .bytes(tensor.finish())
    .join()
    .finish();
}
