import type { Engine } from "../engines/engine.ts";
import {
  type EngineSelection,
  type EngineSpec,
  engineDefinition,
  loadsBundled,
} from "../engines/registry.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { prepareInWorker } from "./model-worker.ts";
import { openWorkerEngine } from "./worker-engine.ts";

export interface OpenEnginesOptions {
  /** Maximum number of threads of each engine. */
  threads: number;
  /** Batch size as a share of the maximum, to save memory; 1 by default. */
  batchShare?: number;
}

/**
 * Loads the selected engines. Omits the bundled engine if the multilingual engine transcribes everything.
 * @throws SpeechError `model_unusable`, `engine_crashed`
 */
export async function openEngines(selection: EngineSelection, options: OpenEnginesOptions): Promise<Engines> {
  const { bundledTakesEnglish, remedy } = selection;
  const multilingual = selection.multilingual && (await openEngine(selection.multilingual, options));
  try {
    return {
      bundled: loadsBundled(selection) ? await openEngine({ kind: "moonshine" }, options) : null,
      multilingual,
      bundledTakesEnglish,
      remedy,
    };
  } catch (error) {
    await multilingual?.close();
    throw error;
  }
}

async function openEngine(
  spec: EngineSpec,
  { threads, ...batchOptions }: OpenEnginesOptions,
): Promise<Engine> {
  const definition = engineDefinition(spec);
  const workers = definition.workers(threads);
  if (workers === null)
    return await definition.open(spec, { threads, ...batchOptions, prepared: Promise.resolve(null) });
  const prepared = definition.prepare ? prepareInWorker(spec) : null;
  const workerSpec = { kind: "engine" as const, spec, threads: workers.threads, ...batchOptions };
  return await openWorkerEngine(workerSpec, workers, prepared);
}

export async function closeEngines({ bundled, multilingual }: Engines): Promise<void> {
  await Promise.all([bundled?.close(), multilingual?.close()]);
}
