import { SpeechError } from "../errors.ts";
import {
  ATTRIBUTE_GRAPH,
  ATTRIBUTE_NAME,
  editFields,
  fields,
  GRAPH_NODE,
  GRAPH_OUTPUT,
  graphOutputs,
  lengthDelimited,
  MODEL_GRAPH,
  NODE_ATTRIBUTE,
  NODE_NAME,
  NODE_OP_TYPE,
  NODE_OUTPUT,
  nodeBytes,
  type Parts,
  stringField,
  stringFields,
  VALUE_NAME,
} from "./onnx-protobuf.ts";

const BRANCHES = ["then_branch", "else_branch"];

/**
 * Matches the names that exporters give to a layer's cross-attention: `/model/decoder/layers.3/encoder_attn/Softmax`,
 * `/decoder/block.3/layer.1/EncDecAttention/Softmax`, `/blocks.3/cross_attn/Softmax`.
 */
const CROSS_ATTENTION = /(?:layers?|blocks?)[._](\d+)[./].*?(?:encoder_attn|EncDecAttention|cross_?attn)/i;

const OUTPUT_PREFIX = "cross_attentions.";

export function crossAttentionOutput(layer: number): string {
  return `${OUTPUT_PREFIX}${layer}`;
}

/**
 * Declares the cross-attention of each layer as an output of the graph: `cross_attentions.0`, `cross_attentions.1`, …
 * Exported decoders compute these tensors but do not output them. A merged decoder, as exported by Optimum, has an `If`
 * node with one branch for the first step and one with a cache, so both branches and the `If` node need the outputs too.
 *
 * @param model bytes of an ONNX model, which are not modified
 * @returns the model with these outputs. Returns the same bytes if the model already has them, or if it has no softmax
 * with a known name, because an optimizer may have fused it.
 * @throws SpeechError `model_unusable` if the bytes are not an ONNX model
 */
export function addCrossAttentionOutputs(model: Uint8Array): Uint8Array {
  try {
    let found = false;
    const edited = editFields(model, {
      [MODEL_GRAPH]: (graph) => {
        found = true;
        return editGraph(graph);
      },
    });
    if (!found) throw new SpeechError("model_unusable", "The model has no graph.");
    return edited.length === 1 ? model : Buffer.concat(edited);
  } catch (error) {
    if (error instanceof SpeechError) throw error;
    throw new SpeechError("model_unusable", "The model is not a valid ONNX file.", {
      cause: error,
    });
  }
}

function editGraph(graph: Uint8Array): Parts {
  const present = lengthDelimited(graph, GRAPH_OUTPUT).map((value) => stringField(value, VALUE_NAME));
  if (present.some((name) => name.startsWith(OUTPUT_PREFIX))) return [graph];

  const nodes = lengthDelimited(graph, GRAPH_NODE);
  const merged = nodes.find((node) => stringField(node, NODE_OP_TYPE) === "If" && layersOfBranches(node));
  const layers = merged ? layersOfBranches(merged) : null;
  if (merged && layers) {
    const edited = editFields(graph, {
      [GRAPH_NODE]: (node) => (node.byteOffset === merged.byteOffset ? editIf(node, layers) : [node]),
    });
    return [...edited, ...graphOutputs(layers.map(crossAttentionOutput))];
  }

  const attention = crossAttentionTensors(nodes);
  if (attention.size === 0) return [graph];
  const identities = [...attention].map(([layer, tensor]) =>
    nodeBytes("Identity", [tensor], [crossAttentionOutput(layer)]),
  );
  return [
    graph,
    ...fields(GRAPH_NODE, identities),
    ...graphOutputs([...attention.keys()].map(crossAttentionOutput)),
  ];
}

/** Returns the layers whose cross-attention both branches compute; null if there are none. */
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

/** Returns the output of each layer's softmax, keyed by layer. */
function crossAttentionTensors(nodes: readonly Uint8Array[]): Map<number, string> {
  const tensors = new Map<number, string>();
  for (const node of nodes) {
    if (stringField(node, NODE_OP_TYPE) !== "Softmax") continue;
    const [tensor] = stringFields(node, NODE_OUTPUT);
    const match = CROSS_ATTENTION.exec(stringField(node, NODE_NAME)) ?? CROSS_ATTENTION.exec(tensor ?? "");
    if (tensor && match) tensors.set(Number(match[1]), tensor);
  }
  return tensors;
}

/** The outputs of an `If` node and its branches are matched by position, not by name. */
function editIf(ifNode: Uint8Array, layers: readonly number[]): Parts {
  const editBranch = (branch: Uint8Array) => {
    const tensors = crossAttentionTensors(lengthDelimited(branch, GRAPH_NODE));
    return [branch, ...graphOutputs(layers.map((layer) => tensors.get(layer) ?? ""))];
  };
  const edited = editFields(ifNode, {
    [NODE_ATTRIBUTE]: (attribute) =>
      isBranch(attribute) ? editFields(attribute, { [ATTRIBUTE_GRAPH]: editBranch }) : [attribute],
  });
  const names = layers.map((layer) => new TextEncoder().encode(crossAttentionOutput(layer)));
  return [...edited, ...fields(NODE_OUTPUT, names)];
}

function isBranch(attribute: Uint8Array): boolean {
  return BRANCHES.includes(stringField(attribute, ATTRIBUTE_NAME));
}
