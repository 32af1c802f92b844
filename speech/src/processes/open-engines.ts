import type { Engine } from "../engines/engine.ts";
import { type EngineSelection, type EngineSpec, engineDefinition } from "../engines/registry.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { prepareInWorker } from "./model-worker.ts";
import { openWorkerEngine } from "./worker-engine.ts";

export interface OpenEnginesOptions {
  /** Maximum number of threads of all models. */
  threads: number;
  /** Batch size as a share of the maximum, to save memory; 1 by default. */
  batchShare?: number;
}

/**
 * Loads the selected engines, except engines that would not be used.
 * @throws SpeechError `model_unusable`
 */
export async function openEngines(
  { bundled, multilingual, bundledTakesEnglish, remedy }: EngineSelection,
  options: OpenEnginesOptions,
): Promise<Engines> {
  const usesBundled = bundled && (multilingual === null || bundledTakesEnglish);
  const opened = multilingual && (await openEngine(multilingual, options));
  try {
    return {
      bundled: usesBundled ? await openEngine({ kind: "moonshine" }, options) : null,
      multilingual: opened,
      bundledTakesEnglish,
      remedy,
    };
  } catch (error) {
    await opened?.close();
    throw error;
  }
}

async function openEngine(spec: EngineSpec, { threads, ...batches }: OpenEnginesOptions): Promise<Engine> {
  const definition = engineDefinition(spec);
  const workers = definition.workers(threads);
  if (workers === null)
    return await definition.open(spec, { threads, ...batches, prepared: Promise.resolve(null) });
  const prepared = definition.prepare ? prepareInWorker(spec) : null;
  const workerSpec = { kind: "engine" as const, spec, threads: workers.threads, ...batches };
  return await openWorkerEngine(workerSpec, workers, prepared);
}

export async function closeEngines({ bundled, multilingual }: Engines): Promise<void> {
  await Promise.all([bundled?.close(), multilingual?.close()]);
}
