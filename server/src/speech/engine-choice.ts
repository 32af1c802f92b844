import { DEFAULT_MODEL_NAME, KNOWN_MODELS } from "@subtext/speech/models/catalog";
import { type EncoderSpeed, estimateSpeed } from "@subtext/speech/models/estimated-speed";
import type { EngineOptionView } from "../admin/contract/system.ts";
import type { Config } from "../config/config.ts";
import type { Db, Tx } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";

/** The engine that comes with Subtext and transcribes English. */
export const BUNDLED = "bundled";

type ChoiceConfig = Pick<Config, "isEngineSet" | "modelDownload">;

/** Returns no options if there is nothing to choose: settings determine the engine, or downloads are disabled. */
export function engineOptions(
  { isEngineSet, modelDownload }: ChoiceConfig,
  machine: EncoderSpeed | null,
): EngineOptionView[] {
  if (isEngineSet || !modelDownload) return [];
  const models = KNOWN_MODELS.map((model) => ({
    name: model.name,
    languages: model.languageCount,
    downloadBytes: model.downloadBytes,
    memoryBytes: model.memoryBytes,
    estimatedSpeed: machine && estimateSpeed(model, machine),
    isDefault: model.name === DEFAULT_MODEL_NAME,
  }));
  const bundled = { name: BUNDLED, languages: 1, downloadBytes: 0, isDefault: false };
  return [{ ...bundled, memoryBytes: null, estimatedSpeed: null }, ...models];
}

export async function readEngineChoice(db: Db): Promise<string | null> {
  const row = await db.selectFrom("engine_choice").select("engine").executeTakeFirst();
  return row?.engine ?? null;
}

/** Returns null if the engine can be chosen. Without downloads, only the bundled engine can. */
function problemOf(config: ChoiceConfig, engine: string): string | null {
  if (config.isEngineSet) return "The settings determine the engine.";
  if (engine === BUNDLED) return null;
  if (!config.modelDownload) {
    return `MODEL_DOWNLOAD=off allows only ${BUNDLED}. To use an installed model, set WHISPER_MODEL.`;
  }
  const names = engineOptions(config, null).map(({ name }) => name);
  return names.includes(engine) ? null : `Choose one of ${names.join(", ")}.`;
}

/** @throws AppError `invalid_request` if the engine cannot be chosen */
export async function storeEngineChoice(tx: Tx, config: ChoiceConfig, engine: string): Promise<void> {
  const problem = problemOf(config, engine);
  if (problem !== null) {
    throw new AppError("invalid_request", `The engine ${engine} cannot be chosen. ${problem}`);
  }
  await tx
    .insertInto("engine_choice")
    .values({ engine })
    .onConflict((conflict) => conflict.column("only").doUpdateSet({ engine }))
    .execute();
}
