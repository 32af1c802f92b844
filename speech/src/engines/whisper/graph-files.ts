import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SpeechError } from "../../errors.ts";

export interface GraphFiles {
  encoderPath: string;
  decoderPath: string;
}

/**
 * File name suffixes, keyed by data type. The best for onnxruntime on CPUs come first. `quantized` (8 bits) is fastest
 * and needs a quarter of the memory. `int8` comes after `fp32` because the runtime has no signed convolution, so such
 * encoders often do not load. Four bits save memory but hardly any time. Half precision is converted to `fp32` and back.
 * `bnb4` has no fast kernel.
 */
const VARIANTS: ReadonlyMap<string, string> = new Map([
  ["quantized", "_quantized"],
  ["uint8", "_uint8"],
  ["fp32", ""],
  ["int8", "_int8"],
  ["q4", "_q4"],
  ["fp16", "_fp16"],
  ["q4f16", "_q4f16"],
  ["bnb4", "_bnb4"],
]);

/** Graphs are next to the other files or, in models of the hub's ONNX community, in `onnx/`. */
const FOLDERS = ["onnx", "."];

const DECODER = "decoder_model_merged";
const SPLIT_DECODER = /(?:^|\/)decoder_(?:with_past_)?model[^/]*\.onnx$/;

/** A `ModelProto` begins with `ir_version`, which is field 1 with the wire type varint. */
const ONNX_FIRST_BYTE = 0x08;

/**
 * Finds the graphs of a model. If no variant is requested, encoder and decoder may have different ones.
 * @throws SpeechError `model_unusable` if a graph is missing or not an ONNX file
 */
export async function findGraphs(folder: string, variant: string | undefined): Promise<GraphFiles> {
  if (variant !== undefined && !VARIANTS.has(variant)) {
    throw new SpeechError(
      "model_unusable",
      `Unknown variant ${variant}. Use one of ${[...VARIANTS.keys()].join(", ")}.`,
    );
  }
  const endings = variant === undefined ? [...VARIANTS.values()] : [VARIANTS.get(variant) as string];
  const present = new Set((await Promise.all(FOLDERS.map((inner) => filesOf(folder, inner)))).flat());
  const find = async (graph: string) => {
    const wanted = endings.flatMap((ending) => FOLDERS.map((inner) => join(inner, `${graph}${ending}.onnx`)));
    const found = wanted.find((name) => present.has(name));
    if (found === undefined && graph === DECODER && [...present].some((name) => SPLIT_DECODER.test(name))) {
      throw new SpeechError(
        "model_unusable",
        `The model in ${folder} has separate decoders for the first and the later steps. Export it with a merged decoder, ${DECODER}.onnx.`,
      );
    }
    if (found === undefined) {
      throw new SpeechError(
        "model_unusable",
        `The model in ${folder} has no ${variant === undefined ? "" : `${variant} `}${graph}: ` +
          `${wanted.length > 2 ? `none of ${wanted.length} files such as ` : ""}${wanted.slice(0, 2).join(" or ")} exists.`,
      );
    }
    const path = join(folder, found);
    await expectOnnx(path);
    return path;
  };
  return { encoderPath: await find("encoder_model"), decoderPath: await find(DECODER) };
}

/**
 * Measured memory per byte of a graph's files, or more: large decoders need at most two thirds of it. The runtime copies
 * weights while it loads them, repacks them for each branch of a decoder, and converts half to single precision.
 */
const MEMORY_PER_BYTE = {
  encoder: { eightBits: 2.5, fp16: 6, fp32: 1.5 },
  decoder: { eightBits: 6, fp16: 6, fp32: 4 },
};

export function weightBytesOf(
  graph: "encoder" | "decoder",
  weights: "eightBits" | "fp16" | "fp32",
  fileBytes: number,
): number {
  return fileBytes * MEMORY_PER_BYTE[graph][weights];
}

/**
 * Estimates the memory of the loaded graphs from the sizes of their files, including external weights
 * (`encoder_model.onnx_data`, `encoder_model.onnx_data_1`, …).
 * @throws SpeechError `model_unusable`
 */
export async function graphWeightBytes(folder: string): Promise<number> {
  const { encoderPath, decoderPath } = await findGraphs(folder, undefined);
  let bytes = 0;
  for (const [graph, path] of [
    ["encoder", encoderPath],
    ["decoder", decoderPath],
  ] as const) {
    const names = (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path)));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(dirname(path), name))).size));
    const fileBytes = sizes.reduce((sum, size) => sum + size, 0);
    bytes += weightBytesOf(graph, weightsOf(path), fileBytes);
  }
  return bytes;
}

/** Counts 4-bit weights like 8-bit ones. */
function weightsOf(path: string): "eightBits" | "fp16" | "fp32" {
  const [, suffix] = /_(quantized|uint8|int8|q4|fp16|q4f16|bnb4)\.onnx$/.exec(path) ?? [];
  if (suffix === undefined) return "fp32";
  return suffix === "fp16" ? "fp16" : "eightBits";
}

async function filesOf(folder: string, inner: string): Promise<string[]> {
  try {
    return (await readdir(join(folder, inner))).map((name) => join(inner, name));
  } catch {
    return [];
  }
}

/** Detects remnants of a failed download: an empty file, an HTML page, or a Git LFS pointer. */
async function expectOnnx(path: string): Promise<void> {
  let firstByte: number | undefined;
  try {
    const file = await open(path);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, 0);
      firstByte = bytesRead === 1 ? buffer[0] : undefined;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new SpeechError("model_unusable", `The model file ${path} cannot be read.`, { cause: error });
  }
  if (firstByte !== ONNX_FIRST_BYTE) {
    const what = firstByte === undefined ? "is empty" : "is not an ONNX model";
    throw new SpeechError("model_unusable", `The model file ${path} ${what}.`);
  }
}
