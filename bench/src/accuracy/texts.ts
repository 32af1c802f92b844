import texts from "./sentences.json" with { type: "json" };
import type { VoiceSet } from "./voices.ts";

export interface OtherLanguage {
  code: string;
  /** Voice name for `espeak_SetVoiceByName`. */
  voice: string;
  sentences: readonly string[];
}

const { calibration, checked, fresh } = texts.english;

/** English sentences without numerals, by the voices that speak them. */
export const ENGLISH_SENTENCES: Record<VoiceSet, readonly string[]> = {
  calibration,
  checked: [...calibration, ...checked],
  fresh,
};

/**
 * The classification thresholds were fitted to the languages for calibration. The results of the checked languages
 * influenced the choice of the thresholds; those of the fresh languages influenced nothing.
 */
export const OTHER_LANGUAGES: Record<VoiceSet, readonly OtherLanguage[]> = texts.otherLanguages;
