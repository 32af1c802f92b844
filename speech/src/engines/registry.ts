import { SpeechError } from "../errors.ts";
import type { EngineParts, MultilingualPart } from "./engine-parts.ts";

/** `auto` takes the best there is; the others are held to what they name. */
export const ENGINE_CHOICES = ["auto", "moonshine", "whisper", "openai"] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

export interface AvailableEngines {
  /** The multilingual model on this machine; null where there is none (yet). */
  whisper: {
    /** Absolute. */
    folder: string;
    /** Whether the bundled engine hears English about as well, many times as fast. */
    englishNoBetterThanBundled: boolean;
  } | null;
  /** A sentence for people: how to get that model where there is none. */
  whisperRemedy: string;
  /** Servers elsewhere; null where none is named. */
  openai: Extract<MultilingualPart, { kind: "openai" }> | null;
}

/**
 * Which engines to listen with. `auto`: servers where they are named, for somebody has named them; else the
 * multilingual model, beside which the bundled engine takes English that it hears as well; else the bundled
 * engine alone.
 * @throws SpeechError `model_not_found` where the engine that was asked for is not there
 */
export function chooseEngines(choice: EngineChoice, available: AvailableEngines): EngineParts {
  const { whisper, openai, whisperRemedy } = available;
  const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false };
  switch (choice) {
    case "moonshine":
      return {
        ...bundledOnly,
        remedy: "The engine was set to moonshine: set it to auto, and transcribe the recording again.",
      };
    case "openai":
      if (openai === null) {
        throw new SpeechError("model_not_found", "There is no transcription server to ask.");
      }
      return only(openai);
    case "whisper":
      if (whisper === null) {
        throw new SpeechError("model_not_found", `There is no multilingual model. ${whisperRemedy}`);
      }
      return only({ kind: "whisper", folder: whisper.folder });
    case "auto":
      if (openai !== null) return only(openai);
      if (whisper === null) {
        return { ...bundledOnly, remedy: `${whisperRemedy} Then transcribe the recording again.` };
      }
      return {
        bundled: true,
        multilingual: { kind: "whisper", folder: whisper.folder },
        bundledTakesEnglish: whisper.englishNoBetterThanBundled,
        remedy: "",
      };
  }
}

function only(multilingual: MultilingualPart): EngineParts {
  return { bundled: false, multilingual, bundledTakesEnglish: false, remedy: "" };
}
