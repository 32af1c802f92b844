import { Tensor } from "onnxruntime-node";
import { SpeechError } from "../errors.ts";

/** Tensors of floats, of 32 or of 16 bits: models exported in half precision take and give the latter. */
export type FloatType = "float32" | "float16";

/** @throws SpeechError `model_unusable` for other types. */
export function floatType(type: string | undefined, name: string): FloatType {
  if (type === "float32" || type === "float16") return type;
  throw new SpeechError("model_unusable", `The model's ${name} is of type ${type}, not of floats.`);
}

/** Values of the tensor; not copied where they are of 32 bits already. */
export function floatsOf(tensor: Tensor): Float32Array {
  const data: unknown = tensor.data;
  if (data instanceof Float32Array) return data;
  if (data instanceof Float16Array) return new Float32Array(data);
  throw new SpeechError("model_unusable", `The model gave a tensor of type ${tensor.type}, not of floats.`);
}

/** The tensor itself where it is of that type already. */
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
  const halves = values instanceof Float16Array ? values : new Float16Array(values);
  // The runtime takes a Float16Array, of which its types do not know yet.
  return new Tensor("float16", halves as unknown as Uint16Array, dims);
}

/**
 * What the runtime takes as inputs. Its binding asks Node-API for the length of arrays, which knows nothing of
 * Float16Array; it takes the same memory as Uint16Array, which its own tensors will not hold.
 */
export function asFeeds(tensors: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
  const feeds = { ...tensors };
  for (const [name, tensor] of Object.entries(tensors)) {
    const data: unknown = tensor.data;
    if (!(data instanceof Float16Array)) continue;
    const { type, dims, location } = tensor;
    const bits = new Uint16Array(data.buffer, data.byteOffset, data.length);
    feeds[name] = { type, dims, location, data: bits } as Tensor;
  }
  return feeds;
}

/**
 * Gives the memory of arrays back at once; they can not be used any longer. It lies outside JavaScript's heap,
 * of which V8 collects the garbage after every 32 MB of such memory: left to that, a small model's decoder spends
 * a tenth of its time on collections.
 */
export function release(arrays: readonly (Float32Array | Tensor)[]): void {
  for (const array of arrays) {
    const { buffer } = array instanceof Float32Array ? array : (array.data as Float32Array);
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
}

/** Those rows of a float tensor (its first dimension), in the order given. */
export function keepRows(tensor: Tensor, rows: readonly number[]): Tensor {
  const stride = tensor.dims.slice(1).reduce((product, size) => product * size, 1);
  return joinRows(
    tensor.type as FloatType,
    rows.map((row) => rawFloats(tensor).subarray(row * stride, (row + 1) * stride)),
    [rows.length, ...tensor.dims.slice(1)],
  );
}

/** Tensors of one row each and of the same shape, one under the other. */
export function stackRows(tensors: readonly Tensor[]): Tensor {
  const [first] = tensors;
  if (!first) throw new RangeError("there is nothing to stack");
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
  return data instanceof Float16Array ? data : floatsOf(tensor);
}
