import { closeSync, openSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  GRAPH_INITIALIZER,
  type GraphWriter,
  TENSOR_RAW_DATA,
  tensorHeader,
} from "@subtext/speech/onnx/onnx-writer";
import { MAX_WEIGHT, type Weight } from "@subtext/speech/onnx/transformer-layers";
import { seeded } from "../seeded.ts";

/** A file in the protobuf format must be smaller than 2 GiB. */
const MAX_EMBEDDED_BYTES = 1.9e9;
const BLOCK_VALUES = 2 ** 20;
/**
 * Writes an ONNX model with random weights without holding them in memory. Weights of more than 1.9 GB are written to
 * `<path>_data`, like those of published exports.
 */
export function writeModel(path: string, graph: GraphWriter, weights: readonly Weight[]): void {
  const blocks = randomBlocks();
  const total = weights.reduce((sum, weight) => sum + bytesOf(weight), 0);
  const isExternal = total > MAX_EMBEDDED_BYTES;
  const externalPath = `${path}_data`;
  const tensors = weights.map((weight) => {
    const header = tensorHeader(weight.name, weight.type, weight.dims);
    return isExternal
      ? header
      : header.tag(TENSOR_RAW_DATA, WireType.LengthDelimited).uint32(bytesOf(weight));
  });
  if (isExternal) {
    let offset = 0;
    for (const [index, weight] of weights.entries()) {
      locate(tensors[index]!, basename(externalPath), offset, bytesOf(weight));
      offset += bytesOf(weight);
    }
  }
  const nodes = graph.finish();
  const initializers = weights.map((weight, index) => {
    const header = tensors[index]!.finish();
    const embedded = isExternal ? 0 : bytesOf(weight);
    const tag = new BinaryWriter()
      .tag(GRAPH_INITIALIZER, WireType.LengthDelimited)
      .uint32(header.length + embedded)
      .finish();
    return { weight, head: Buffer.concat([tag, header]) };
  });
  const graphBytes = initializers.reduce(
    (sum, { weight, head }) => sum + head.length + (isExternal ? 0 : bytesOf(weight)),
    nodes.length,
  );
  const file = openSync(path, "w");
  const external = isExternal ? openSync(externalPath, "w") : file;
  try {
    const opset = new BinaryWriter().tag(2, WireType.Varint).int64(17).finish();
    const start = new BinaryWriter().tag(1, WireType.Varint).int64(8);
    start.tag(8, WireType.LengthDelimited).bytes(opset);
    start.tag(7, WireType.LengthDelimited).uint32(graphBytes);
    writeSync(file, start.finish());
    writeSync(file, nodes);
    for (const { weight, head } of initializers) {
      writeSync(file, head);
      writeRandom(external, weight, blocks);
    }
  } finally {
    closeSync(file);
    if (isExternal) closeSync(external);
  }
}

function bytesOf({ type, dims }: Weight): number {
  const size = { float32: 4, float16: 2, uint8: 1 }[type];
  return dims.reduce((product, dim) => product * dim, size);
}

function locate(tensor: BinaryWriter, location: string, offset: number, length: number): void {
  const entries = { location, offset: String(offset), length: String(length) };
  for (const [key, value] of Object.entries(entries)) {
    const entry = new BinaryWriter().tag(1, WireType.LengthDelimited).string(key);
    entry.tag(2, WireType.LengthDelimited).string(value);
    tensor.tag(13, WireType.LengthDelimited).bytes(entry.finish());
  }
  tensor.tag(14, WireType.Varint).int32(1);
}

type Blocks = Record<Weight["type"], Uint8Array>;

function randomBlocks(): Blocks {
  const random = seeded(1);
  const floats = Float32Array.from({ length: BLOCK_VALUES }, () => (2 * random() - 1) * MAX_WEIGHT);
  const bytes = Uint8Array.from({ length: BLOCK_VALUES }, () => Math.floor(256 * random()));
  return {
    float32: new Uint8Array(floats.buffer),
    float16: new Uint8Array(Float16Array.from(floats).buffer),
    uint8: bytes,
  };
}

/** Repeats the block, with another beginning for each tensor. */
function writeRandom(file: number, weight: Weight, blocks: Blocks): void {
  const block = blocks[weight.type];
  let from = (weight.name.length * 8_192) % block.length;
  for (let left = bytesOf(weight); left > 0; from = 0) {
    const part = block.subarray(from, Math.min(block.length, from + left));
    writeSync(file, part);
    left -= part.length;
  }
}
