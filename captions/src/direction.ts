export type Direction = "ltr" | "rtl";

/** ISO 639 codes of languages that are usually written from right to left. */
const RTL_LANGUAGES = new Set(
  "ar arc arz azb bal ckb dv fa he iw ks lrc mzn nqo ps sd skr syr ug ur yi".split(" "),
);
/** Letters of class R and AL of the Unicode bidirectional algorithm (UAX #9), by their blocks. */
const RTL_LETTER = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;
const LETTERS = /\p{L}/gu;

/**
 * Returns the base direction of a caption. If its letters have one direction, that; if both occur, that of
 * the language, and if the language is unknown, that of the first letter.
 * @param language ISO 639 code, with or without subtags
 */
export function readingDirection(text: string, language: string): Direction {
  const first = firstLetterDirection(text);
  const [code = ""] = language.toLowerCase().split(/[-_]/);
  const ofLanguage = RTL_LANGUAGES.has(code) ? "rtl" : "ltr";
  if (first === undefined) return ofLanguage;
  // True for almost every caption of most languages.
  if (first === "ltr" && !RTL_LETTER.test(text)) return "ltr";
  const letters = text.match(LETTERS) ?? [];
  if (letters.every((letter) => RTL_LETTER.test(letter))) return "rtl";
  return code === "und" || code === "" ? first : ofLanguage;
}

/** The direction of the first letter, which players use for a line; undefined if there is none. */
export function firstLetterDirection(text: string): Direction | undefined {
  const letter = LETTER.exec(text)?.[0];
  if (letter === undefined) return undefined;
  return RTL_LETTER.test(letter) ? "rtl" : "ltr";
}
