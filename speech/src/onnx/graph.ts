import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { SpeechError } from "../errors.ts";

/**
 * Gives a decoder graph the outputs that word times need. Exported decoders keep their cross-attention to
 * themselves; the tensors are computed inside and only have to be named as outputs.
 *
 * Works on the protobuf wire format (onnx.proto, field numbers below), so every part of the model that is
 * not touched stays byte for byte what it was, whatever later versions of the format add to it.
 */

const MODEL_GRAPH = 7;
const GRAPH_NODE = 1;
const GRAPH_OUTPUT = 12;
const NODE_INPUT = 1;
const NODE_OUTPUT = 2;
const NODE_NAME = 3;
const NODE_OP_TYPE = 4;
const NODE_ATTRIBUTE = 5;
const ATTRIBUTE_NAME = 1;
const ATTRIBUTE_GRAPH = 6;
const VALUE_NAME = 1;

const BRANCHES = ["then_branch", "else_branch"];

/**
 * How exporters name a layer's attention to the encoder: `/model/decoder/layers.3/encoder_attn/Softmax`,
 * `/decoder/block.3/layer.1/EncDecAttention/Softmax`, `/blocks.3/cross_attn/Softmax`.
 */
const CROSS_ATTENTION = /(?:layers?|blocks?)[._](\d+)[./].*?(?:encoder_attn|EncDecAttention|cross_?attn)/i;

const OUTPUT_PREFIX = "cross_attentions.";

/** Name of the graph output that carries a layer's cross-attention; layers count from 0. */
export function crossAttentionOutput(layer: number): string {
  return `${OUTPUT_PREFIX}${layer}`;
}

/**
 * Names the cross-attention of each layer as an output of the graph, `cross_attentions.0`,
 * `cross_attentions.1`, …: in a merged decoder (one `If` node whose two branches run without and with a
 * cache, as Optimum exports `decoder_model_merged.onnx`) as outputs of both branches, of the `If` and of
 * the graph; in a plain one of the graph alone. They have the element type that the model computes in.
 *
 * @param model The bytes of an ONNX model; not changed.
 * @returns The model with these outputs. It is given back as it is where it has such outputs already, and
 * where no softmax is named as cross-attention (an optimiser may have fused it into another node).
 * @throws SpeechError `model_unusable` where the bytes are no ONNX model.
 */
export function addCrossAttentionOutputs(model: Uint8Array): Uint8Array {
  try {
    let found = false;
    const edited = editFields(model, MODEL_GRAPH, (graph) => {
      found = true;
      return editGraph(graph);
    });
    if (!found) throw new SpeechError("model_unusable", "The model holds no graph.");
    return edited.length === 1 ? model : Buffer.concat(edited);
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The model is damaged: it cannot be read as ONNX.", {
      cause: error,
    });
  }
}

/**
 * Parts of a message one after the other. Models are large, so they are put together once, at the end; a
 * message that was not changed is its one part.
 */
type Parts = readonly Uint8Array[];

function editGraph(graph: Uint8Array): Parts {
  const present = lengthDelimited(graph, GRAPH_OUTPUT).map((value) => stringField(value, VALUE_NAME));
  if (present.some((name) => name.startsWith(OUTPUT_PREFIX))) return [graph];

  const nodes = lengthDelimited(graph, GRAPH_NODE);
  const merged = nodes.find((node) => stringField(node, NODE_OP_TYPE) === "If" && layersOfBranches(node));
  const layers = merged ? layersOfBranches(merged) : null;
  if (merged && layers) {
    const edited = editFields(graph, GRAPH_NODE, (node) =>
      node.byteOffset === merged.byteOffset ? editIf(node, layers) : [node],
    );
    return [...edited, ...newOutputs(layers.map(crossAttentionOutput))];
  }

  const attention = crossAttentionTensors(nodes);
  if (attention.size === 0) return [graph];
  const identities = [...attention].map(([layer, tensor]) =>
    identityNode(tensor, crossAttentionOutput(layer)),
  );
  return [
    graph,
    ...fields(GRAPH_NODE, identities),
    ...newOutputs([...attention.keys()].map(crossAttentionOutput)),
  ];
}

/** Layers whose cross-attention both branches compute; null where there are none. */
function layersOfBranches(ifNode: Uint8Array): number[] | null {
  const branches = lengthDelimited(ifNode, NODE_ATTRIBUTE).filter(isBranch);
  const [first, second] = branches.map((branch) =>
    crossAttentionTensors(
      lengthDelimited(branch, ATTRIBUTE_GRAPH).flatMap((graph) => lengthDelimited(graph, GRAPH_NODE)),
    ),
  );
  if (!first || !second) return null;
  const layers = [...first.keys()].filter((layer) => second.has(layer)).toSorted((a, b) => a - b);
  return layers.length > 0 ? layers : null;
}

/** The softmax of each layer's cross-attention. */
function crossAttentionTensors(nodes: readonly Uint8Array[]): Map<number, string> {
  const tensors = new Map<number, string>();
  for (const node of nodes) {
    if (stringField(node, NODE_OP_TYPE) !== "Softmax") continue;
    const [tensor] = lengthDelimited(node, NODE_OUTPUT).map(decodeUtf8);
    const match = CROSS_ATTENTION.exec(stringField(node, NODE_NAME)) ?? CROSS_ATTENTION.exec(tensor ?? "");
    if (tensor && match) tensors.set(Number(match[1]), tensor);
  }
  return tensors;
}

/** The outputs of an `If` and of its branches belong together by their order, not by their names. */
function editIf(ifNode: Uint8Array, layers: readonly number[]): Parts {
  const edited = editFields(ifNode, NODE_ATTRIBUTE, (attribute) =>
    isBranch(attribute)
      ? editFields(attribute, ATTRIBUTE_GRAPH, (branch) => {
          const tensors = crossAttentionTensors(lengthDelimited(branch, GRAPH_NODE));
          return [branch, ...newOutputs(layers.map((layer) => tensors.get(layer) ?? ""))];
        })
      : [attribute],
  );
  const names = layers.map((layer) => new TextEncoder().encode(crossAttentionOutput(layer)));
  return [...edited, ...fields(NODE_OUTPUT, names)];
}

function isBranch(attribute: Uint8Array): boolean {
  return BRANCHES.includes(stringField(attribute, ATTRIBUTE_NAME));
}

/** Graph outputs whose type and shape are left to the runtime's own inference. */
function newOutputs(names: readonly string[]): Parts {
  return fields(
    GRAPH_OUTPUT,
    names.map((name) => new BinaryWriter().tag(VALUE_NAME, WireType.LengthDelimited).string(name).finish()),
  );
}

function identityNode(input: string, output: string): Uint8Array {
  return new BinaryWriter()
    .tag(NODE_INPUT, WireType.LengthDelimited)
    .string(input)
    .tag(NODE_OUTPUT, WireType.LengthDelimited)
    .string(output)
    .tag(NODE_OP_TYPE, WireType.LengthDelimited)
    .string("Identity")
    .finish();
}

/** Contents of every length-delimited field `number`, as views into the message. */
function lengthDelimited(message: Uint8Array, number: number): Uint8Array[] {
  const contents: Uint8Array[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [fieldNumber, wireType] = reader.tag();
    if (fieldNumber === number && wireType === WireType.LengthDelimited) contents.push(reader.bytes());
    else reader.skip(wireType, fieldNumber);
  }
  return contents;
}

function stringField(message: Uint8Array, number: number): string {
  const content = lengthDelimited(message, number).at(-1);
  return content ? decodeUtf8(content) : "";
}

/** The message with every length-delimited field `number` replaced by what `edit` makes of its content. */
function editFields(message: Uint8Array, number: number, edit: (content: Uint8Array) => Parts): Parts {
  const reader = new BinaryReader(message);
  const parts: Uint8Array[] = [];
  let kept = 0;
  while (reader.pos < reader.len) {
    const fieldStart = reader.pos;
    const [fieldNumber, wireType] = reader.tag();
    if (fieldNumber !== number || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, fieldNumber);
      continue;
    }
    const content = reader.bytes();
    const edited = edit(content);
    if (edited.length === 1 && edited[0] === content) continue;
    parts.push(message.subarray(kept, fieldStart), ...field(number, edited));
    kept = reader.pos;
  }
  return kept === 0 ? [message] : [...parts, message.subarray(kept)];
}

/** Repeated fields may stand anywhere in a message, so new ones go to its end. */
function fields(number: number, contents: readonly Uint8Array[]): Parts {
  return contents.flatMap((content) => field(number, [content]));
}

function field(number: number, content: Parts): Parts {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return [new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish(), ...content];
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
