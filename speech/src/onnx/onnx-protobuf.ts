import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Edits ONNX models on the protobuf wire format (onnx.proto, field numbers below), so that every part that is
 * not edited stays the same byte for byte, whatever later versions of the format add.
 */

export const MODEL_GRAPH = 7;
export const GRAPH_NODE = 1;
export const GRAPH_INPUT = 11;
export const GRAPH_OUTPUT = 12;
export const GRAPH_VALUE_INFO = 13;
export const NODE_INPUT = 1;
export const NODE_OUTPUT = 2;
export const NODE_NAME = 3;
export const NODE_OP_TYPE = 4;
export const NODE_ATTRIBUTE = 5;
export const ATTRIBUTE_NAME = 1;
export const ATTRIBUTE_GRAPH = 6;
export const ATTRIBUTE_INTS = 8;
export const VALUE_NAME = 1;
export const VALUE_TYPE = 2;
export const TYPE_TENSOR = 1;
export const TENSOR_SHAPE = 2;

/**
 * Consecutive parts of a message. Models are large, so they are concatenated once, at the end; an unmodified
 * message is its only part.
 */
export type Parts = readonly Uint8Array[];

/** Contents of every length-delimited field `number`, as views into the message. */
export function lengthDelimited(message: Uint8Array, number: number): Uint8Array[] {
  const contents: Uint8Array[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [fieldNumber, wireType] = reader.tag();
    if (fieldNumber === number && wireType === WireType.LengthDelimited) contents.push(reader.bytes());
    else reader.skip(wireType, fieldNumber);
  }
  return contents;
}

/** Text of every field `number`. */
export function stringFields(message: Uint8Array, number: number): string[] {
  return lengthDelimited(message, number).map((content) => new TextDecoder().decode(content));
}

/** Text of the field; empty if there is none. */
export function stringField(message: Uint8Array, number: number): string {
  return stringFields(message, number).at(-1) ?? "";
}

/**
 * Replaces the content of every length-delimited field `number` with the result of `edit`; removes the field
 * if that is null.
 */
export function editFields(
  message: Uint8Array,
  number: number,
  edit: (content: Uint8Array) => Parts | null,
): Parts {
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
    if (edited?.length === 1 && edited[0] === content) continue;
    parts.push(message.subarray(kept, fieldStart), ...(edited === null ? [] : field(number, edited)));
    kept = reader.pos;
  }
  return kept === 0 ? [message] : [...parts, message.subarray(kept)];
}

/** Fields that are appended to a message: repeated fields may be anywhere in it. */
export function fields(number: number, contents: readonly Uint8Array[]): Parts {
  return contents.flatMap((content) => field(number, [content]));
}

function field(number: number, content: Parts): Parts {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return [new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish(), ...content];
}

/** Outputs of a graph by name; the runtime infers type and shape. */
export function graphOutputs(names: readonly string[]): Parts {
  return fields(GRAPH_OUTPUT, names.map(valueBytes));
}

/** The bytes of a value that has only a name. */
export function valueBytes(name: string): Uint8Array {
  return new BinaryWriter().tag(VALUE_NAME, WireType.LengthDelimited).string(name).finish();
}

/** The bytes of a node with these inputs and outputs. */
export function nodeBytes(opType: string, inputs: readonly string[], outputs: readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  const text = (number: number, value: string) => writer.tag(number, WireType.LengthDelimited).string(value);
  for (const input of inputs) text(NODE_INPUT, input);
  for (const output of outputs) text(NODE_OUTPUT, output);
  return text(NODE_OP_TYPE, opType).finish();
}
