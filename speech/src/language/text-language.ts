/** The language of shorter texts is too often confused with a similar one, such as Spanish with Catalan. */
const MIN_CHARACTERS = 40;
/** eld knows neither Indonesian nor Swahili, and reports text in them as Malay or Tagalog. */
const CONFUSED = new Set(["ms", "tl"]);
/** Scripts used (almost) exclusively by one supported language, which a few letters are enough to identify. */
const LANGUAGE_OF_SCRIPT = {
  Armenian: "hy",
  Ethiopic: "am",
  Georgian: "ka",
  Greek: "el",
  Gujarati: "gu",
  Gurmukhi: "pa",
  Hangul: "ko",
  Kannada: "kn",
  Khmer: "km",
  Lao: "lo",
  Malayalam: "ml",
  Myanmar: "my",
  Sinhala: "si",
  Tamil: "ta",
  Telugu: "te",
  Thai: "th",
  Tibetan: "bo",
} as const;
const SCRIPTS = Object.entries(LANGUAGE_OF_SCRIPT).map(([script, language]) => ({
  language,
  letters: new RegExp(`\\p{Script=${script}}`, "gu"),
}));
const MIN_SCRIPT_LETTERS = 4;

/**
 * Detects the language of a text, for engines that do not report it.
 * @returns ISO code; `und` if the text is in one of several languages that are often confused; null if it is too short
 *   or the result is not reliable. For other languages that eld does not know, the code may be that of a similar one.
 */
export async function textLanguage(text: string): Promise<string | null> {
  const letters = text.match(/\p{L}|\p{M}/gu)?.length ?? 0;
  for (const script of SCRIPTS) {
    const count = text.match(script.letters)?.length ?? 0;
    if (count >= MIN_SCRIPT_LETTERS && count > letters / 2) return script.language;
  }
  if ([...text].length < MIN_CHARACTERS) return null;
  // Loaded on demand, because its tables take 100 MB of memory.
  const { eld } = await import("eld/small");
  const result = eld.detect(text);
  if (!result.isReliable()) return null;
  return CONFUSED.has(result.language) ? "und" : result.language;
}
