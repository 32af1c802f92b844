import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/*
 * ONNX models are edited in the protobuf wire format, so all other parts stay identical, including fields of newer
 * versions. The constants are field numbers of onnx.proto.
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

/** Consecutive parts of a message. Models are large, so parts are concatenated only once, at the end. */
export type Parts = readonly Uint8Array[];

/** Returns the contents of each length-delimited field `number`, as views into the message. */
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

export function stringFields(message: Uint8Array, number: number): string[] {
  return lengthDelimited(message, number).map((content) => new TextDecoder().decode(content));
}

/** Returns an empty string if there is no such field. */
export function stringField(message: Uint8Array, number: number): string {
  return stringFields(message, number).at(-1) ?? "";
}

/** Returns the new content of a field; null removes the field. */
export type FieldEdit = (content: Uint8Array) => Parts | null;

/** Replaces the contents of length-delimited fields in one pass. `edits` is keyed by field number. */
export function editFields(message: Uint8Array, edits: Readonly<Record<number, FieldEdit>>): Parts {
  const reader = new BinaryReader(message);
  const parts: Uint8Array[] = [];
  let kept = 0;
  while (reader.pos < reader.len) {
    const fieldStart = reader.pos;
    const [number, wireType] = reader.tag();
    const edit = wireType === WireType.LengthDelimited ? edits[number] : undefined;
    if (edit === undefined) {
      reader.skip(wireType, number);
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

/** Encodes repeated fields, which can be appended to a message. */
export function fields(number: number, contents: readonly Uint8Array[]): Parts {
  return contents.flatMap((content) => field(number, [content]));
}

function field(number: number, content: Parts): Parts {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return [new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish(), ...content];
}

/** Declares outputs of a graph. The runtime infers type and shape. */
export function graphOutputs(names: readonly string[]): Parts {
  return fields(GRAPH_OUTPUT, names.map(valueBytes));
}

/** Encodes a value that has only a name. */
export function valueBytes(name: string): Uint8Array {
  return new BinaryWriter().tag(VALUE_NAME, WireType.LengthDelimited).string(name).finish();
}

export function nodeBytes(opType: string, inputs: readonly string[], outputs: readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  const text = (number: number, value: string) => writer.tag(number, WireType.LengthDelimited).string(value);
  for (const input of inputs) text(NODE_INPUT, input);
  for (const output of outputs) text(NODE_OUTPUT, output);
  return text(NODE_OP_TYPE, opType).finish();
}
