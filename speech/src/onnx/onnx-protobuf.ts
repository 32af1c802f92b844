import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * ONNX models edited on the protobuf wire format (onnx.proto, field numbers below), so every part of a model
 * that is not touched stays byte for byte what it was, whatever later versions of the format add to it.
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
export const ATTRIBUTE_INT = 3;
export const ATTRIBUTE_GRAPH = 6;
export const ATTRIBUTE_INTS = 8;
export const ATTRIBUTE_TYPE = 20;
export const VALUE_NAME = 1;
export const VALUE_TYPE = 2;
export const TYPE_TENSOR = 1;
export const TENSOR_SHAPE = 2;

/**
 * Parts of a message one after the other. Models are large, so they are put together once, at the end; a
 * message that was not changed is its one part.
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

/** Texts of every field `number`. */
export function stringFields(message: Uint8Array, number: number): string[] {
  return lengthDelimited(message, number).map((content) => new TextDecoder().decode(content));
}

/** Text of the field; empty where there is none. */
export function stringField(message: Uint8Array, number: number): string {
  return stringFields(message, number).at(-1) ?? "";
}

/**
 * The message with every length-delimited field `number` replaced by what `edit` makes of its content; without
 * it where that is null.
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

/** Repeated fields may stand anywhere in a message, so new ones go to its end. */
export function fields(number: number, contents: readonly Uint8Array[]): Parts {
  return contents.flatMap((content) => field(number, [content]));
}

function field(number: number, content: Parts): Parts {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return [new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish(), ...content];
}

/** Outputs of a graph by their names; type and shape are left to the runtime's own inference. */
export function graphOutputs(names: readonly string[]): Parts {
  return fields(GRAPH_OUTPUT, names.map(valueBytes));
}

/** The bytes of a value that has a name alone. */
export function valueBytes(name: string): Uint8Array {
  return new BinaryWriter().tag(VALUE_NAME, WireType.LengthDelimited).string(name).finish();
}

/** The bytes of a node with these inputs, outputs and attributes. */
export function nodeBytes(
  opType: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, number>> = {},
): Uint8Array {
  const writer = new BinaryWriter();
  const text = (number: number, value: string) => writer.tag(number, WireType.LengthDelimited).string(value);
  for (const input of inputs) text(NODE_INPUT, input);
  for (const output of outputs) text(NODE_OUTPUT, output);
  for (const [name, value] of Object.entries(attributes)) {
    writer.tag(NODE_ATTRIBUTE, WireType.LengthDelimited).bytes(intAttribute(name, value));
  }
  return text(NODE_OP_TYPE, opType).finish();
}

function intAttribute(name: string, value: number): Uint8Array {
  const TYPE_INT = 2;
  const writer = new BinaryWriter().tag(ATTRIBUTE_NAME, WireType.LengthDelimited).string(name);
  writer.tag(ATTRIBUTE_INT, WireType.Varint).int64(value);
  return writer.tag(ATTRIBUTE_TYPE, WireType.Varint).int32(TYPE_INT).finish();
}
