import { SpeechError } from "../errors.ts";
import {
  ATTRIBUTE_GRAPH,
  editFields,
  fields,
  GRAPH_NODE,
  GRAPH_OUTPUT,
  lengthDelimited,
  MODEL_GRAPH,
  NODE_ATTRIBUTE,
  NODE_INPUT,
  NODE_NAME,
  NODE_OP_TYPE,
  NODE_OUTPUT,
  nodeBytes,
  type Parts,
  stringField,
  stringFields,
  VALUE_NAME,
  valueBytes,
} from "./onnx-protobuf.ts";

const LOGITS = "logits";
const HIDDEN_STATES = "projected_states";
/** A few nodes transpose and unpack a weight. A value from more nodes is not a weight but depends on the input. */
const MAX_WEIGHT_NODES = 4;

/**
 * Saves memory and time when a merged decoder is loaded. Both branches end with the same product of hidden states and the
 * embeddings of all tokens, and the runtime unpacks and keeps these embeddings for each branch. After this edit, the
 * branches output the hidden states, and the product follows once after the `If` node. Results are bit-identical.
 *
 * @param model bytes of an ONNX model, which are not modified
 * @returns the edited model. Returns the same bytes if the logits are computed in another way.
 * @throws SpeechError `model_unusable` if the bytes are not an ONNX model
 */
export function shareProjection(model: Uint8Array): Uint8Array {
  try {
    const edited = editFields(model, { [MODEL_GRAPH]: editGraph });
    return edited.length === 1 ? model : Buffer.concat(edited);
  } catch (cause) {
    throw new SpeechError("model_unusable", "The model is not a valid ONNX file.", { cause });
  }
}

function editGraph(graph: Uint8Array): Parts {
  const merged = lengthDelimited(graph, GRAPH_NODE).find((node) => stringField(node, NODE_OP_TYPE) === "If");
  const index = merged ? stringFields(merged, NODE_OUTPUT).indexOf(LOGITS) : -1;
  const projections = (merged ? lengthDelimited(merged, NODE_ATTRIBUTE) : [])
    .flatMap((attribute) => lengthDelimited(attribute, ATTRIBUTE_GRAPH))
    .map((branch) => findProjection(branch, index));
  const [first, second] = projections;
  if (!merged || !first || !second || projections.length !== 2) return [graph];
  if (!areEqual(first.weightNodes, second.weightNodes)) return [graph];

  const editBranch = (branch: Uint8Array): Parts => {
    const { removed, hiddenStates } = branch.byteOffset === first.branch.byteOffset ? first : second;
    let output = 0;
    return editFields(branch, {
      [GRAPH_NODE]: (node) => (removed.has(stringField(node, NODE_OUTPUT)) ? null : [node]),
      [GRAPH_OUTPUT]: (value) => (output++ === index ? [valueBytes(hiddenStates)] : [value]),
    });
  };
  let output = 0;
  const editIf = (node: Uint8Array) =>
    editFields(node, {
      [NODE_ATTRIBUTE]: (attribute) => editFields(attribute, { [ATTRIBUTE_GRAPH]: editBranch }),
      [NODE_OUTPUT]: (name) => (output++ === index ? [new TextEncoder().encode(HIDDEN_STATES)] : [name]),
    });
  const edited = editFields(graph, {
    [GRAPH_NODE]: (node) => (node.byteOffset === merged.byteOffset ? editIf(node) : [node]),
  });
  const product = nodeBytes("MatMul", [HIDDEN_STATES, first.weight], [LOGITS]);
  return [...edited, ...fields(GRAPH_NODE, [...first.weightNodes, product])];
}

/** Compares nodes except for their names. */
function areEqual(nodes: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  const [first, second] = [nodes, others].map((each) =>
    Buffer.concat(each.flatMap((node) => editFields(node, { [NODE_NAME]: () => null }))),
  );
  return first!.equals(second!);
}

interface Projection {
  branch: Uint8Array;
  hiddenStates: string;
  weight: string;
  /** Nodes that compute the weight from constants outside the branch, in order. */
  weightNodes: Uint8Array[];
  /** Outputs of the nodes that are no longer needed in the branch. */
  removed: ReadonlySet<string>;
}

/** Returns the product that computes an output of a branch; null if its weight depends on the branch. */
function findProjection(branch: Uint8Array, index: number): Projection | null {
  const nodes = lengthDelimited(branch, GRAPH_NODE).map((bytes) => ({
    bytes,
    opType: stringField(bytes, NODE_OP_TYPE),
    inputs: stringFields(bytes, NODE_INPUT),
    outputs: stringFields(bytes, NODE_OUTPUT),
  }));
  const value = lengthDelimited(branch, GRAPH_OUTPUT)[index];
  const logits = value && stringField(value, VALUE_NAME);
  const product = nodes.find(({ outputs }) => logits !== undefined && outputs[0] === logits);
  const [hiddenStates, weight] = product?.inputs ?? [];
  if (product?.opType !== "MatMul" || hiddenStates === undefined || weight === undefined) return null;

  const isUsedOnce = (tensor: string) => nodes.filter(({ inputs }) => inputs.includes(tensor)).length === 1;
  const weightNodes: typeof nodes = [];
  for (const needed = [weight]; needed.length > 0; ) {
    const tensor = needed.pop()!;
    const producer = nodes.find(({ outputs }) => outputs.includes(tensor));
    if (producer === undefined) continue;
    if (!isUsedOnce(tensor) || producer.outputs.length !== 1 || weightNodes.length === MAX_WEIGHT_NODES)
      return null;
    weightNodes.unshift(producer);
    needed.push(...producer.inputs);
  }
  return {
    branch,
    hiddenStates,
    weight,
    weightNodes: weightNodes.map(({ bytes }) => bytes),
    removed: new Set([product, ...weightNodes].map(({ outputs }) => outputs[0]!)),
  };
}
