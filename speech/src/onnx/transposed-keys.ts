import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { SpeechError } from "../errors.ts";
import {
  ATTRIBUTE_GRAPH,
  ATTRIBUTE_INTS,
  editFields,
  GRAPH_INPUT,
  GRAPH_NODE,
  GRAPH_OUTPUT,
  GRAPH_VALUE_INFO,
  lengthDelimited,
  MODEL_GRAPH,
  NODE_ATTRIBUTE,
  NODE_INPUT,
  NODE_OP_TYPE,
  NODE_OUTPUT,
  nodeBytes,
  type Parts,
  stringField,
  stringFields,
  TENSOR_SHAPE,
  TYPE_TENSOR,
  VALUE_NAME,
  VALUE_TYPE,
  valueBytes,
} from "./onnx-protobuf.ts";

/**
 * Speeds up a merged decoder. Cross-attention needs the cached encoder keys transposed and scaled, and exported decoders
 * repeat this for every token. After this edit, the branch without a cache outputs the transposed and scaled keys, which
 * it computes anyway, and the branch with a cache uses them directly. Results are bit-identical.
 *
 * @param model bytes of an ONNX model, which are not modified
 * @returns the model with `present.N.encoder.key` and `past_key_values.N.encoder.key` as `[rows, heads, head size,
 * frames]`. Returns the same bytes if the keys are used in another way.
 * @throws SpeechError `model_unusable` if the bytes are not an ONNX model
 */
export function cacheTransposedKeys(model: Uint8Array): Uint8Array {
  try {
    const edited = editFields(model, { [MODEL_GRAPH]: editGraph });
    return edited.length === 1 ? model : Buffer.concat(edited);
  } catch (error) {
    throw new SpeechError("model_unusable", "The model is not a valid ONNX file.", {
      cause: error,
    });
  }
}

const PAST_KEY = /^past_key_values\.(\d+\.encoder\.key)$/;

function editGraph(graph: Uint8Array): Parts {
  const merged = lengthDelimited(graph, GRAPH_NODE).find((node) => stringField(node, NODE_OP_TYPE) === "If");
  const branches = (merged ? lengthDelimited(merged, NODE_ATTRIBUTE) : [])
    .flatMap((attribute) => lengthDelimited(attribute, ATTRIBUTE_GRAPH))
    .map((bytes) => new Branch(bytes));
  if (!merged || branches.length !== 2) return [graph];

  const outputs = stringFields(merged, NODE_OUTPUT);
  const reshaped = new Set<string>();
  for (const past of valueNames(graph, GRAPH_INPUT)) {
    const cached = branches.find((branch) => branch.uses(past) > 0);
    const uncached = branches.find((branch) => branch.uses(past) === 0);
    const present = `present.${PAST_KEY.exec(past)?.[1]}`;
    const index = outputs.indexOf(present);
    if (!cached || !uncached || index < 0) continue;
    const applyToCached = cached.planTransposedInput(past, index);
    const applyToUncached = uncached.planTransposedOutput(index);
    if (!applyToCached || !applyToUncached) continue;
    applyToCached();
    applyToUncached();
    reshaped.add(past).add(present);
  }
  if (reshaped.size === 0) return [graph];

  const editValue = (value: Uint8Array) =>
    reshaped.has(stringField(value, VALUE_NAME)) ? withoutShape(value) : [value];
  const editBranch = (bytes: Uint8Array) =>
    branches.find((branch) => branch.bytes.byteOffset === bytes.byteOffset)!.edited();
  const editAttribute = (attribute: Uint8Array) => editFields(attribute, { [ATTRIBUTE_GRAPH]: editBranch });
  return editFields(graph, {
    [GRAPH_NODE]: (node) =>
      node.byteOffset === merged.byteOffset ? editFields(node, { [NODE_ATTRIBUTE]: editAttribute }) : [node],
    [GRAPH_INPUT]: editValue,
    [GRAPH_OUTPUT]: editValue,
  });
}

interface GraphNode {
  bytes: Uint8Array;
  opType: string;
  inputs: string[];
  outputs: string[];
}

/** One of the two branches of the merged decoder, with its edits. */
class Branch {
  readonly bytes: Uint8Array;
  readonly #nodes: readonly GraphNode[];
  readonly #outputs: readonly string[];
  readonly #producers: ReadonlyMap<string, GraphNode>;
  /** Replacements of nodes, keyed by first output. Null removes the node. */
  readonly #replaced = new Map<string, Uint8Array | null>();
  /** New tensors of outputs, keyed by output. */
  readonly #renamed = new Map<string, string>();
  /** Tensors whose declared shape is no longer valid. */
  readonly #reshaped = new Set<string>();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#nodes = lengthDelimited(bytes, GRAPH_NODE).map((node) => ({
      bytes: node,
      opType: stringField(node, NODE_OP_TYPE),
      inputs: stringFields(node, NODE_INPUT),
      outputs: stringFields(node, NODE_OUTPUT),
    }));
    this.#outputs = valueNames(bytes, GRAPH_OUTPUT);
    this.#producers = new Map(this.#nodes.flatMap((node) => node.outputs.map((output) => [output, node])));
  }

  uses(tensor: string): number {
    return this.#users(tensor).length;
  }

  /** Returns the edit that makes the branch use cached keys directly; null if they are used in another way. */
  planTransposedInput(past: string, outputIndex: number): (() => void) | null {
    const transpose = this.#onlyUser(past, "Transpose");
    const scale = this.#onlyUser(transpose?.outputs[0], "Mul");
    const product = this.#onlyUser(scale?.outputs[0], "MatMul");
    const present = this.#outputs[outputIndex];
    if (!transpose || !scale || !product || present === undefined) return null;
    if (permutation(transpose).join() !== "0,1,3,2" || product.inputs[1] !== scale.outputs[0]) return null;
    return () => {
      this.#replaced.set(transpose.outputs[0]!, null);
      this.#replaced.set(scale.outputs[0]!, null);
      this.#replaced.set(
        product.outputs[0]!,
        nodeBytes("MatMul", [product.inputs[0]!, past], product.outputs),
      );
      this.#renamed.set(present, present);
      this.#reshaped.add(past);
    };
  }

  /** Returns the edit that makes the branch output the keys that its attention uses; null if it has no such keys. */
  planTransposedOutput(outputIndex: number): (() => void) | null {
    const present = this.#outputs[outputIndex];
    const plain = present === undefined ? undefined : this.#producers.get(present);
    if (present === undefined || plain?.opType !== "Transpose") return null;
    const [rows, heads, frames, size] = permutation(plain);
    const transpose = this.#users(plain.inputs[0]!).find(
      (node) =>
        node.opType === "Transpose" && permutation(node).join() === [rows, heads, size, frames].join(),
    );
    const scale = this.#onlyUser(transpose?.outputs[0], "Mul");
    const transposed = scale?.outputs[0];
    if (transposed === undefined || this.#onlyUser(transposed, "MatMul")?.inputs[1] !== transposed)
      return null;
    return () => {
      if (this.uses(present) === 0) this.#replaced.set(present, null);
      this.#renamed.set(present, transposed);
    };
  }

  edited(): Parts {
    return editFields(this.bytes, {
      [GRAPH_NODE]: (node) => {
        const replacement = this.#replaced.get(stringFields(node, NODE_OUTPUT)[0] ?? "");
        return replacement === undefined ? [node] : replacement && [replacement];
      },
      [GRAPH_OUTPUT]: (value) => {
        const name = this.#renamed.get(stringField(value, VALUE_NAME));
        return name === undefined ? [value] : [valueBytes(name)];
      },
      [GRAPH_VALUE_INFO]: (value) => (this.#reshaped.has(stringField(value, VALUE_NAME)) ? null : [value]),
    });
  }

  #users(tensor: string): GraphNode[] {
    return this.#nodes.filter(({ inputs }) => inputs.includes(tensor));
  }

  /** Returns the node that uses the tensor if it is the only one and has this type. */
  #onlyUser(tensor: string | undefined, opType: string): GraphNode | undefined {
    if (tensor === undefined) return undefined;
    const [user, ...others] = this.#users(tensor);
    return others.length === 0 && user?.opType === opType && !this.#outputs.includes(tensor)
      ? user
      : undefined;
  }
}

function valueNames(graph: Uint8Array, field: number): string[] {
  return lengthDelimited(graph, field).map((value) => stringField(value, VALUE_NAME));
}

/** Returns the source dimension of each dimension of a transposed tensor. */
function permutation({ bytes }: GraphNode): number[] {
  return lengthDelimited(bytes, NODE_ATTRIBUTE).flatMap((attribute) => {
    const dimensions: number[] = [];
    const reader = new BinaryReader(attribute);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field !== ATTRIBUTE_INTS) reader.skip(wireType, field);
      else if (wireType === WireType.Varint) dimensions.push(Number(reader.int64()));
      else {
        const packed = new BinaryReader(reader.bytes());
        while (packed.pos < packed.len) dimensions.push(Number(packed.int64()));
      }
    }
    return dimensions;
  });
}

function withoutShape(value: Uint8Array): Parts {
  return editFields(value, {
    [VALUE_TYPE]: (type) =>
      editFields(type, {
        [TYPE_TENSOR]: (tensor) => editFields(tensor, { [TENSOR_SHAPE]: () => null }),
      }),
  });
}
