import { SpeechError } from "../errors.ts";
import {
  editFields,
  fields,
  GRAPH_NODE,
  GRAPH_OUTPUT,
  graphOutputs,
  lengthDelimited,
  MODEL_GRAPH,
  nodeBytes,
  stringField,
  VALUE_NAME,
} from "./onnx-protobuf.ts";

/** Names of the outputs: `[rows, positions, 1]` of 64-bit integers and of floats. */
export const LIKELIEST_TOKEN = "likeliest.token";
export const LIKELIEST_PROBABILITY = "likeliest.probability";

const LOGITS = "logits";
const PROBABILITIES = "likeliest.probabilities";
const LAST_AXIS = { axis: -1 };

/**
 * Has a decoder tell its likeliest token and that token's probability by itself: its runtime looks through a large
 * vocabulary in half the time that JavaScript takes, and the logits (a megabyte for ten rows) need not come out.
 *
 * @param model The bytes of an ONNX model with `logits` of 32-bit floats; not changed.
 * @returns The model with these outputs; as it is where it gives no logits.
 * @throws SpeechError `model_unusable` where the bytes are no ONNX model.
 */
export function addLikeliestOutputs(model: Uint8Array): Uint8Array {
  try {
    const edited = editFields(model, MODEL_GRAPH, (graph) => {
      const outputs = lengthDelimited(graph, GRAPH_OUTPUT).map((value) => stringField(value, VALUE_NAME));
      if (!outputs.includes(LOGITS) || outputs.includes(LIKELIEST_TOKEN)) return [graph];
      return [
        graph,
        ...fields(GRAPH_NODE, [
          nodeBytes("ArgMax", [LOGITS], [LIKELIEST_TOKEN], LAST_AXIS),
          nodeBytes("Softmax", [LOGITS], [PROBABILITIES], LAST_AXIS),
          nodeBytes("GatherElements", [PROBABILITIES, LIKELIEST_TOKEN], [LIKELIEST_PROBABILITY], LAST_AXIS),
        ]),
        ...graphOutputs([LIKELIEST_TOKEN, LIKELIEST_PROBABILITY]),
      ];
    });
    return edited.length === 1 ? model : Buffer.concat(edited);
  } catch (error) {
    throw new SpeechError("model_unusable", "The model is damaged: it cannot be read as ONNX.", {
      cause: error,
    });
  }
}
