import { isAbsolute } from "node:path";
import {
  CONFIGURABLE_ENGINES,
  type EngineChoice,
  type EngineSpec,
  readConfiguredEngines,
} from "@subtext/speech/engines/registry";
import { KNOWN_MODELS, knownModel } from "@subtext/speech/models/catalog";
import type { SettingsReader } from "./settings-reader.ts";

export function readEngines(settings: SettingsReader): {
  engine: EngineChoice;
  isEngineSet: boolean;
  configuredEngines: EngineSpec[];
} {
  const engine = settings.oneOf("ENGINE");
  for (const { kind, enabledBy, settings: names } of CONFIGURABLE_ENGINES) {
    if (settings.text(enabledBy) === null) {
      if (engine === kind) settings.reportInvalid("ENGINE", engine, `it requires ${enabledBy}`);
      for (const name of names.filter((each) => settings.differsFromDefault(each))) {
        settings.reportInvalid(name, settings.text(name) ?? "", `it requires ${enabledBy}`);
      }
    } else if (engine !== kind && engine !== "auto") {
      settings.reportInvalid(
        "ENGINE",
        engine,
        `${enabledBy} is set but this engine does not use it; use auto or unset ${enabledBy}`,
      );
    }
  }
  const configuredEngines = readConfiguredEngines(settings);
  const isEngineSet =
    engine !== "auto" || configuredEngines.length > 0 || settings.differsFromDefault("WHISPER_MODEL");
  return { engine, isEngineSet, configuredEngines };
}

/** Returns the name of a model in the catalog, or an absolute path. */
export function readWhisperModel(settings: SettingsReader): string {
  const model = settings.text("WHISPER_MODEL") ?? "";
  if (!isAbsolute(model) && !knownModel(model)) {
    const names = KNOWN_MODELS.map(({ name }) => name).join(", ");
    settings.reportInvalid("WHISPER_MODEL", model, `it must be an absolute path or one of ${names}`);
  }
  return model;
}

/** Returns a URL without a trailing slash. */
export function readModelHubUrl(settings: SettingsReader): string {
  const url = settings.url("MODEL_HUB_URL", ["http:", "https:"]) ?? "";
  if (/^\w+:\/\/[^/]*@|[?#]/.test(url)) {
    settings.reportInvalid(
      "MODEL_HUB_URL",
      url,
      "it must not contain credentials or a query; use MODEL_HUB_TOKEN for credentials",
    );
  }
  return url.replace(/\/+$/, "");
}
