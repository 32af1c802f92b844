import { SpeechError } from "../errors.ts";
import type { EngineDefinition, EngineSettingsReader } from "./definition.ts";
import { moonshine } from "./moonshine/definition.ts";
import { openAi } from "./openai/definition.ts";
import { whisper } from "./whisper/definition.ts";

/** All engines. `auto` prefers those that settings configure, in this order. */
const ENGINES = { moonshine, whisper, openai: openAi };

/** Settings of all engines, by the names of environment variables. */
export const ENGINE_SETTINGS = { ...openAi.configuration.settings };
type EngineSettingName = keyof typeof ENGINE_SETTINGS;

type EngineKind = keyof typeof ENGINES;
const KINDS = Object.keys(ENGINES) as EngineKind[];

export type EngineSpec = Parameters<(typeof ENGINES)[EngineKind]["open"]>[0];

/** `auto` selects the best available engine; every other choice selects only that engine. */
export type EngineChoice = "auto" | EngineKind;
export const ENGINE_CHOICES: readonly [EngineChoice, ...EngineChoice[]] = ["auto", ...KINDS];

export function engineDefinition({ kind }: { kind: EngineKind }): EngineDefinition<EngineSpec> {
  return ENGINES[kind] as EngineDefinition<EngineSpec>;
}

/** Engines that settings alone describe. */
export const CONFIGURABLE_ENGINES = KINDS.flatMap((kind) => {
  const { configuration } = engineDefinition({ kind });
  if (configuration === undefined) return [];
  return {
    kind,
    settings: Object.keys(configuration.settings) as EngineSettingName[],
    enabledBy: configuration.enabledBy as EngineSettingName,
    read: configuration.read,
  };
});

/** The engines that the settings configure. */
export function readConfiguredEngines(settings: EngineSettingsReader, interactive = false): EngineSpec[] {
  return CONFIGURABLE_ENGINES.filter(({ enabledBy }) => settings.text(enabledBy) !== null).map(({ read }) =>
    read(settings, interactive),
  );
}

/** Which engines transcribe. */
export interface EngineSelection {
  /** Whether to use the bundled engine. */
  bundled: boolean;
  multilingual: EngineSpec | null;
  /** Whether the bundled engine transcribes what is clearly English. */
  bundledTakesEnglish: boolean;
  /** What to do if people speak a language that no selected engine supports: a sentence for people. */
  remedy: string;
}

export interface AvailableEngines {
  /** The multilingual model on this machine; null if there is none (yet). */
  whisper: {
    /** Absolute. */
    folder: string;
    /** Whether the bundled engine transcribes English about as well, many times as fast. */
    englishNoBetterThanBundled: boolean;
  } | null;
  /** A sentence for people: how to install that model. */
  whisperRemedy: string;
  /** The result of `readConfiguredEngines`. */
  configured: readonly EngineSpec[];
}

/**
 * Chooses the engines. `auto`: an engine that settings configure; else the multilingual model, beside which the
 * bundled engine may take English; else only the bundled engine.
 * @throws SpeechError `model_not_found` if the requested engine is not available
 */
export function chooseEngines(choice: EngineChoice, available: AvailableEngines): EngineSelection {
  const { whisper, whisperRemedy, configured } = available;
  const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false };
  switch (choice) {
    case "moonshine":
      return {
        ...bundledOnly,
        remedy: "The engine was set to moonshine: set it to auto, and transcribe the recording again.",
      };
    case "whisper":
      if (whisper === null) {
        throw new SpeechError("model_not_found", `There is no multilingual model. ${whisperRemedy}`);
      }
      return only({ kind: "whisper", folder: whisper.folder });
    case "auto":
      if (configured[0] !== undefined) return only(configured[0]);
      if (whisper === null) {
        return { ...bundledOnly, remedy: `${whisperRemedy} Then transcribe the recording again.` };
      }
      return {
        bundled: true,
        multilingual: { kind: "whisper", folder: whisper.folder },
        bundledTakesEnglish: whisper.englishNoBetterThanBundled,
        remedy: "",
      };
    default: {
      const chosen = configured.find(({ kind }) => kind === choice);
      if (chosen === undefined)
        throw new SpeechError("model_not_found", `The engine ${choice} is not configured.`);
      return only(chosen);
    }
  }
}

function only(multilingual: EngineSpec): EngineSelection {
  return { bundled: false, multilingual, bundledTakesEnglish: false, remedy: "" };
}
