import texts from "./sentences.json" with { type: "json" };
import type { VoiceSet } from "./voices.ts";

export interface OtherLanguage {
  code: string;
  /** Voice name for `espeak_SetVoiceByName`. */
  voice: string;
  sentences: readonly string[];
}

const { calibration, checked, fresh } = texts.english;

/** Sentences without numerals. */
export const ENGLISH_SENTENCES: Record<VoiceSet, readonly string[]> = {
  calibration,
  checked: [...calibration, ...checked],
  fresh,
};

export const OTHER_LANGUAGES: Record<VoiceSet, readonly OtherLanguage[]> = texts.otherLanguages;
