import type { Engine } from "../engines/engine.ts";
import type { EngineParts, MultilingualPart } from "../engines/engine-parts.ts";
import { openOpenAi } from "../engines/openai/openai.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { readMoonshineInThread } from "./model-worker.ts";
import { openLanedEngine } from "./worker-engine.ts";

export interface OpenEnginesOptions {
  /** Threads that all models together may use at a time. */
  threads: number;
  /** Part of a full batch, to save memory; 1 if left out. */
  batchShare?: number;
}

/**
 * Loads what there is to listen with. An engine that no recording would be heard with is left aside.
 * @throws SpeechError `model_unusable`
 */
export async function openEngines(parts: EngineParts, options: OpenEnginesOptions): Promise<Engines> {
  const { bundledTakesEnglish, remedy } = parts;
  const multilingual =
    parts.multilingual === null ? null : await openMultilingual(parts.multilingual, options);
  const listens = parts.bundled && (multilingual === null || bundledTakesEnglish);
  try {
    const bundled = listens ? await openBundled(options) : null;
    return { bundled, multilingual, bundledTakesEnglish, remedy };
  } catch (error) {
    await multilingual?.close();
    throw error;
  }
}

async function openBundled({ threads, ...batches }: OpenEnginesOptions): Promise<Engine> {
  const model = await readMoonshineInThread();
  return await openLanedEngine({ kind: "moonshine", model, threads: 1, ...batches }, threads);
}

async function openMultilingual(part: MultilingualPart, options: OpenEnginesOptions): Promise<Engine> {
  switch (part.kind) {
    case "whisper":
      // One copy of the weights: they are large, and so are the products that its threads share.
      return await openLanedEngine({ kind: "whisper", folder: part.folder, ...options }, 1);
    case "openai":
      return await openOpenAi(part);
  }
}

export async function closeEngines({ bundled, multilingual }: Engines): Promise<void> {
  await Promise.all([bundled?.close(), multilingual?.close()]);
}
