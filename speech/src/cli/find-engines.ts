import { type AvailableEngines, chooseEngines, type EngineSelection } from "../engines/registry.ts";
import { DEFAULT_MODEL_NAME, KNOWN_MODELS, knownModel } from "../models/catalog.ts";
import { asInstalled, bundledTakesEnglish } from "../models/estimated-speed.ts";
import { readMeasuredSpeed } from "../models/measured-speed.ts";
import { type ModelStore, openModelStore } from "../models/store.ts";
import { machineSpeed } from "../processes/machine-speed.ts";
import type { TranscribeSettings } from "./settings.ts";

/** @throws SpeechError `model_not_found`, `model_corrupt` */
export async function findEngines(settings: TranscribeSettings): Promise<EngineSelection> {
  const { engine, configured, calledAs } = settings;
  const mayUseWhisper = engine === "whisper" || (engine === "auto" && configured.length === 0);
  return chooseEngines(engine, {
    whisper: mayUseWhisper ? await findWhisper(settings) : null,
    whisperRemedy: `\`${calledAs} models pull ${DEFAULT_MODEL_NAME}\` installs a model for about 99 languages.`,
    configured,
  });
}

async function findWhisper({
  model,
  modelsFolder,
  calledAs,
  priority,
  threads,
}: TranscribeSettings): Promise<AvailableEngines["whisper"]> {
  const store = openModelStore({ folder: modelsFolder, calledAs: `${calledAs} models` });
  const wanted = model ?? (await bestInstalledModel(store));
  if (wanted === null) return null;
  const { folder, manifest, name } = await store.find(wanted);
  const known = knownModel(manifest?.name ?? name);
  const installed = known === undefined ? null : asInstalled(known, manifest);
  const measured = await readMeasuredSpeed(folder, threads);
  // Measure only if the choice depends on it. If measuring fails, the model also recognizes English.
  const machine =
    installed === null || installed.prefersBundledForEnglish || priority !== "auto" || measured !== null
      ? null
      : await machineSpeed(modelsFolder, threads).catch(() => null);
  const prefersBundledForEnglish = bundledTakesEnglish(installed, priority, { measured, machine });
  return { folder, prefersBundledForEnglish };
}

/** Prefers the default model, then the largest one. Returns null if none is installed. */
async function bestInstalledModel(store: ModelStore): Promise<string | null> {
  const installed = new Set(
    (await store.list()).filter(({ state }) => state !== "partial").map(({ name }) => name),
  );
  const bestFirst = [DEFAULT_MODEL_NAME, ...KNOWN_MODELS.map(({ name }) => name).toReversed()];
  return bestFirst.find((name) => installed.has(name)) ?? null;
}
