import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { KnownModel } from "../../src/models/catalog.ts";
import { tinyWhisperModel } from "./language-recordings.ts";
import { ModelHub, type ServedFile } from "./model-hub.ts";

/** Starts a hub that serves the tiny Whisper model under the file names of an 8-bit model of the catalog. */
export async function startTinyModelHub(model: KnownModel): Promise<ModelHub> {
  const files = await Promise.all(
    model.files.map(async (path): Promise<[string, ServedFile]> => {
      const name = path.replace("onnx/", "").replace("_quantized", "");
      return [path, { content: await readFile(join(tinyWhisperModel, name)), large: path.endsWith(".onnx") }];
    }),
  );
  return await ModelHub.start(model.repository, Object.fromEntries(files));
}
