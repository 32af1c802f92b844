import { Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";

/** Element type of a float tensor. Half-precision models use float16. */
export type FloatType = "float32" | "float16";

/**
 * Checks the type of a model's input or output.
 * @throws SpeechError `model_unusable` for other types, and for float16 before Node.js 24
 */
export function parseFloatType(type: string | undefined, name: string): FloatType {
  if (type === "float16" && !hasHalves) {
    throw new SpeechError(
      "model_unusable",
      `The model's ${name} has type float16, which requires Node.js 24 or later.`,
    );
  }
  if (type === "float32" || type === "float16") return type;
  throw new SpeechError(
    "model_unusable",
    `The model's ${name} has type ${type}; expected float32 or float16.`,
  );
}

/** Node.js 22 has no Float16Array. */
const hasHalves = typeof Float16Array === "function";

function isHalves(data: unknown): data is Float16Array {
  return hasHalves && data instanceof Float16Array;
}

/** Returns the values of the tensor, which are copied only if they are not 32-bit floats. */
export function floatsOf(tensor: Tensor): Float32Array {
  const data: unknown = tensor.data;
  if (data instanceof Float32Array) return data;
  if (isHalves(data)) return new Float32Array(data);
  throw new SpeechError(
    "model_unusable",
    `The model returned a tensor of type ${tensor.type}; expected float32 or float16.`,
  );
}

/** Returns the tensor itself if it already has the type. */
export function asFloats(tensor: Tensor, type: FloatType): Tensor {
  return tensor.type === type ? tensor : floatTensor(type, floatsOf(tensor), tensor.dims);
}

export function floatTensor(
  type: FloatType,
  values: Float32Array | Float16Array,
  dims: readonly number[],
): Tensor {
  if (type === "float32") {
    return new Tensor("float32", values instanceof Float32Array ? values : new Float32Array(values), dims);
  }
  const halves = isHalves(values) ? values : new Float16Array(values);
  // The constructor accepts a Float16Array, but its type declaration does not.
  return new Tensor("float16", halves as unknown as Uint16Array, dims);
}

/**
 * Converts tensors to inputs of ONNX Runtime. Its native binding does not support Float16Array, only the same memory as a
 * Uint16Array. The Tensor class does not accept that, so these inputs are plain objects.
 */
export function asFeeds(tensors: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
  const feeds = { ...tensors };
  for (const [name, tensor] of Object.entries(tensors)) {
    const data: unknown = tensor.data;
    if (!isHalves(data)) continue;
    const { type, dims, location } = tensor;
    const bits = new Uint16Array(data.buffer, data.byteOffset, data.length);
    feeds[name] = { type, dims, location, data: bits } as Tensor;
  }
  return feeds;
}

/**
 * Frees the memory of arrays immediately. They become unusable. Otherwise V8 would collect garbage after every 32 MB that
 * are allocated outside its heap, which would take a tenth of the time of a small model.
 */
export function release(arrays: readonly (Float32Array | Tensor)[]): void {
  for (const array of arrays) {
    const { buffer } = array instanceof Float32Array ? array : (array.data as Float32Array);
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
}

/** Returns the given rows (indexes of the first dimension) of a float tensor. */
export function selectRows(tensor: Tensor, rows: readonly number[]): Tensor {
  const stride = tensor.dims.slice(1).reduce((product, size) => product * size, 1);
  return joinRows(
    tensor.type as FloatType,
    rows.map((row) => rawFloats(tensor).subarray(row * stride, (row + 1) * stride)),
    [rows.length, ...tensor.dims.slice(1)],
  );
}

/** Concatenates tensors with one row each along the first dimension. */
export function concatRows(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors;
  if (!first) throw new RangeError("there are no tensors to concatenate");
  if (tensors.length === 1) return first;
  return joinRows(first.type as FloatType, tensors.map(rawFloats), [tensors.length, ...first.dims.slice(1)]);
}

function joinRows(
  type: FloatType,
  rows: readonly (Float32Array | Float16Array)[],
  dims: readonly number[],
): Tensor {
  const length = rows.reduce((sum, row) => sum + row.length, 0);
  const joined = type === "float16" ? new Float16Array(length) : new Float32Array(length);
  let at = 0;
  for (const row of rows) {
    joined.set(row, at);
    at += row.length;
  }
  return floatTensor(type, joined, dims);
}

function rawFloats(tensor: Tensor): Float32Array | Float16Array {
  const data: unknown = tensor.data;
  return isHalves(data) ? data : floatsOf(tensor);
}
