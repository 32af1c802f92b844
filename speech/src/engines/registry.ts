import { SpeechError } from "../errors.ts";
import type { EngineDefinition, EngineSettingsReader } from "./definition.ts";
import { moonshine } from "./moonshine/definition.ts";
import { openAi } from "./openai/definition.ts";
import { whisper } from "./whisper/definition.ts";

/** If several engines are configured, `auto` selects the first. */
const ENGINES = { moonshine, whisper, openai: openAi };

/** Settings of all engines, keyed by environment variable. */
export const ENGINE_SETTINGS = { ...openAi.configuration.settings };
type EngineSettingName = keyof typeof ENGINE_SETTINGS;

type EngineKind = keyof typeof ENGINES;
const KINDS = Object.keys(ENGINES) as EngineKind[];

export type EngineSpec = Parameters<(typeof ENGINES)[EngineKind]["open"]>[0];

/** `auto` selects the best available engines. Any other choice selects only that engine. */
export type EngineChoice = "auto" | EngineKind;
export const ENGINE_CHOICES: readonly [EngineChoice, ...EngineChoice[]] = ["auto", ...KINDS];

export function engineDefinition({ kind }: { kind: EngineKind }): EngineDefinition<EngineSpec> {
  return ENGINES[kind] as EngineDefinition<EngineSpec>;
}

/** Engines that need nothing but their settings. */
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

/** Returns the engines that are enabled by settings. */
export function readConfiguredEngines(settings: EngineSettingsReader, interactive = false): EngineSpec[] {
  return CONFIGURABLE_ENGINES.filter(({ enabledBy }) => settings.text(enabledBy) !== null).map(({ read }) =>
    read(settings, interactive),
  );
}

/** The name of the bundled engine in transcripts. */
export const BUNDLED_ENGINE_NAME = moonshine.modelName({ kind: "moonshine" });

export interface EngineSelection {
  bundled: boolean;
  multilingual: EngineSpec | null;
  /** Whether clearly English speech is transcribed by the bundled engine instead of the multilingual one. */
  bundledTakesEnglish: boolean;
  /** What users can do if no selected engine supports the spoken language. Empty with a multilingual engine. */
  remedy: string;
}

/** Returns whether the bundled engine is selected and needed. The multilingual engine may transcribe everything. */
export function loadsBundled({ bundled, multilingual, bundledTakesEnglish }: EngineSelection): boolean {
  return bundled && (multilingual === null || bundledTakesEnglish);
}

export interface AvailableEngines {
  /** The installed Whisper model; null if there is none yet. */
  whisper: {
    /** Absolute. */
    folder: string;
    /** Whether the bundled engine recognizes clear English instead of the model. */
    prefersBundledForEnglish: boolean;
  } | null;
  /** A sentence for users that explains how to install a Whisper model. */
  whisperRemedy: string;
  configured: readonly EngineSpec[];
}

/**
 * Chooses the engines. `auto` selects the first configured engine, else the Whisper model together with the bundled
 * engine, else only the bundled engine.
 * @throws SpeechError `model_not_found` if the requested engine is not available
 */
export function chooseEngines(choice: EngineChoice, available: AvailableEngines): EngineSelection {
  const { whisper, whisperRemedy, configured } = available;
  const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false };
  switch (choice) {
    case "moonshine":
      return {
        ...bundledOnly,
        remedy: "Set the engine to auto instead of moonshine, then transcribe the recording again.",
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
        bundledTakesEnglish: whisper.prefersBundledForEnglish,
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
