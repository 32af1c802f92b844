import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { EngineParts } from "./engine-parts.ts";
import { moonshinePaths } from "./moonshine/model-paths.ts";
import { findGraphs } from "./whisper/graph-files.ts";

/**
 * Bytes of the files that the weights of a process's own models come from, without the bundled engine's: a
 * model takes memory in proportion to them. 0 where an engine computes elsewhere.
 * @throws SpeechError `model_unusable`
 */
export async function modelFileBytes({ multilingual }: EngineParts): Promise<number> {
  if (multilingual?.kind !== "whisper") return 0;
  const { encoderPath, decoderPath } = await findGraphs(multilingual.folder, undefined);
  const sizes = await Promise.all([encoderPath, decoderPath].map(graphBytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Bytes of the bundled engine's files. @throws the system's error if the package is incomplete */
export async function bundledFileBytes(): Promise<number> {
  const sizes = await Promise.all(
    Object.values(moonshinePaths()).map(async (path) => (await stat(path)).size),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** With the weights that lie beside it: `encoder_model.onnx_data`, `encoder_model.onnx_data_1`, … */
async function graphBytes(path: string): Promise<number> {
  const folder = dirname(path);
  const names = (await readdir(folder)).filter((name) => name.startsWith(basename(path)));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
