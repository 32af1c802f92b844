export type Direction = "ltr" | "rtl";

/** ISO 639 codes of languages that are usually written from right to left. */
const RTL_LANGUAGES = new Set(
  "ar arc arz azb bal ckb dv fa he iw ks lrc mzn nqo ps sd skr syr ug ur yi".split(" "),
);
/** Unicode blocks with letters of the bidirectional classes R and AL (UAX #9). */
const RTL_LETTER = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LETTER = /\p{L}/u;
const LETTERS = /\p{L}/gu;

/**
 * Returns the base direction of a caption: the direction that all its letters share. Text with letters of both directions
 * has the direction of the language, or of its first letter if the language is unknown. Text without letters has the
 * direction of the language.
 * @param language ISO 639 code, with or without subtags
 */
export function readingDirection(text: string, language: string): Direction {
  const first = firstLetterDirection(text);
  const [code = ""] = language.toLowerCase().split(/[-_]/);
  const languageDirection = RTL_LANGUAGES.has(code) ? "rtl" : "ltr";
  if (first === undefined) return languageDirection;
  // Fast path for most captions.
  if (first === "ltr" && !RTL_LETTER.test(text)) return "ltr";
  const letters = text.match(LETTERS) ?? [];
  if (letters.every((letter) => RTL_LETTER.test(letter))) return "rtl";
  return code === "und" || code === "" ? first : languageDirection;
}

/** Returns undefined if the text has no letters. */
export function firstLetterDirection(text: string): Direction | undefined {
  const letter = LETTER.exec(text)?.[0];
  if (letter === undefined) return undefined;
  return RTL_LETTER.test(letter) ? "rtl" : "ltr";
}
