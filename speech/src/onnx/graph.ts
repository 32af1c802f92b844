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
const NODE_OUTPUT = 2;
const NODE_OP_TYPE = 4;
const NODE_ATTRIBUTE = 5;
const ATTRIBUTE_NAME = 1;
const ATTRIBUTE_GRAPH = 6;
const VALUE_NAME = 1;
const VALUE_TYPE = 2;
const TYPE_TENSOR = 1;
const TENSOR_ELEMENT_TYPE = 1;
const ELEMENT_FLOAT = 1;

const BRANCHES = ["then_branch", "else_branch"];

/** Name of the graph output that carries the tensor at `index` of the names given. */
export function crossAttentionOutput(index: number): string {
  return `cross_attentions.${index}`;
}

/**
 * Names tensors inside both branches of a merged decoder (one `If` node, as Optimum exports
 * `decoder_model_merged.onnx`) as outputs of the branches, of the `If` and of the graph, where they are
 * called `cross_attentions.0`, `cross_attentions.1`, … in the order given. A model that already has these
 * outputs (some are exported with them) is given back as it is.
 *
 * @param model The bytes of an ONNX model; not changed.
 * @param tensorNames Float tensors that nodes of both branches produce.
 * @throws SpeechError `model_unusable` where the bytes are no ONNX model, or have no `If` node whose two
 * branches produce all of these tensors.
 */
export function addCrossAttentionOutputs(model: Uint8Array, tensorNames: readonly string[]): Uint8Array {
  try {
    let found = false;
    const edited = editFields(model, MODEL_GRAPH, (graph) => {
      found = true;
      return editGraph(graph, tensorNames);
    });
    if (!found) throw new SpeechError("model_unusable", "The model holds no graph.");
    return edited;
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The model is damaged: it cannot be read as ONNX.", {
      cause: error,
    });
  }
}

function editGraph(graph: Uint8Array, tensorNames: readonly string[]): Uint8Array {
  const outputNames = tensorNames.map((_, index) => crossAttentionOutput(index));
  const present = new Set(
    lengthDelimited(graph, GRAPH_OUTPUT).map((value) => stringField(value, VALUE_NAME)),
  );
  if (outputNames.every((name) => present.has(name))) return graph;

  const ifNodes = lengthDelimited(graph, GRAPH_NODE).filter(
    (node) => stringField(node, NODE_OP_TYPE) === "If",
  );
  const target = ifNodes.find((node) => branchesProduce(node, tensorNames));
  if (!target) {
    throw new SpeechError(
      "model_unusable",
      `The decoder has no If node whose branches both produce ${tensorNames.join(", ")}.`,
    );
  }
  const edited = editFields(graph, GRAPH_NODE, (node) =>
    node.byteOffset === target.byteOffset ? editIf(node, tensorNames, outputNames) : node,
  );
  return append(
    edited,
    GRAPH_OUTPUT,
    outputNames.map((name) => floatTensorValue(name)),
  );
}

function branchesProduce(ifNode: Uint8Array, tensorNames: readonly string[]): boolean {
  const branches = lengthDelimited(ifNode, NODE_ATTRIBUTE).filter(isBranch);
  return (
    branches.length === BRANCHES.length &&
    branches.every((branch) => {
      const produced = new Set(
        lengthDelimited(branch, ATTRIBUTE_GRAPH)
          .flatMap((graph) => lengthDelimited(graph, GRAPH_NODE))
          .flatMap((node) => lengthDelimited(node, NODE_OUTPUT))
          .map(decodeUtf8),
      );
      return tensorNames.every((name) => produced.has(name));
    })
  );
}

function editIf(
  ifNode: Uint8Array,
  tensorNames: readonly string[],
  outputNames: readonly string[],
): Uint8Array {
  const edited = editFields(ifNode, NODE_ATTRIBUTE, (attribute) =>
    isBranch(attribute)
      ? editFields(attribute, ATTRIBUTE_GRAPH, (branch) =>
          append(
            branch,
            GRAPH_OUTPUT,
            tensorNames.map((name) => floatTensorValue(name)),
          ),
        )
      : attribute,
  );
  return append(
    edited,
    NODE_OUTPUT,
    outputNames.map((name) => new TextEncoder().encode(name)),
  );
}

function isBranch(attribute: Uint8Array): boolean {
  return BRANCHES.includes(stringField(attribute, ATTRIBUTE_NAME));
}

/** A `ValueInfoProto` of a float tensor; its shape is left to the runtime's own inference. */
function floatTensorValue(name: string): Uint8Array {
  return new BinaryWriter()
    .tag(VALUE_NAME, WireType.LengthDelimited)
    .string(name)
    .tag(VALUE_TYPE, WireType.LengthDelimited)
    .fork()
    .tag(TYPE_TENSOR, WireType.LengthDelimited)
    .fork()
    .tag(TENSOR_ELEMENT_TYPE, WireType.Varint)
    .int32(ELEMENT_FLOAT)
    .join()
    .join()
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
function editFields(
  message: Uint8Array,
  number: number,
  edit: (content: Uint8Array) => Uint8Array,
): Uint8Array {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  let copied = 0;
  while (reader.pos < reader.len) {
    const fieldStart = reader.pos;
    const [fieldNumber, wireType] = reader.tag();
    if (fieldNumber !== number || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, fieldNumber);
      continue;
    }
    const content = reader.bytes();
    const edited = edit(content);
    if (edited === content) continue;
    writer.raw(message.subarray(copied, fieldStart)).tag(number, WireType.LengthDelimited).bytes(edited);
    copied = reader.pos;
  }
  return writer.raw(message.subarray(copied)).finish();
}

/** Repeated fields may stand anywhere in a message, so new ones go to its end. */
function append(message: Uint8Array, number: number, contents: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter().raw(message);
  for (const content of contents) writer.tag(number, WireType.LengthDelimited).bytes(content);
  return writer.finish();
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
