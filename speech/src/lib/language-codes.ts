const ENGLISH_NAMES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** ISO 639 codes that do not identify a single language. */
const NO_LANGUAGE = new Set(["mis", "mul", "zxx"]);

/** Languages that `Intl` canonicalizes to a three-letter code. */
const TWO_LETTER_CODES: Readonly<Record<string, string>> = { fil: "tl" };

/** English names that `Intl` does not contain. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  bengali: "bn",
  bokmal: "nb",
  castilian: "es",
  farsi: "fa",
  flemish: "nl",
  haitian: "ht",
  letzeburgesch: "lb",
  mandarin: "zh",
  moldavian: "ro",
  moldovan: "ro",
  myanmar: "my",
  nynorsk: "nn",
  panjabi: "pa",
  pushto: "ps",
  sinhalese: "si",
  tagalog: "tl",
  uighur: "ug",
  valencian: "ca",
};

/** Languages without a two-letter code that speech models support. */
const THREE_LETTER_CODES = ["ast", "ceb", "chr", "ckb", "haw", "hmn", "kea", "scn", "yue"];

const CODES_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...[...twoLetterCodes(), ...THREE_LETTER_CODES].flatMap((code): [string, string][] => {
    const name = ENGLISH_NAMES.of(code);
    const canonical = canonicalCode(code);
    return name === undefined || canonical === null ? [] : [[plain(name), canonical]];
  }),
  ...Object.entries(OTHER_NAMES),
]);

/**
 * Accepts an English name (`Spanish`, `haitian creole`), an ISO 639 code (`es`, `spa`, `ger`), a tag (`pt-BR`, `zh_CN`)
 * or a retired code (`iw`, `jw`).
 * @returns lower-case ISO 639-1 if it exists, else 639-3; null if the name does not identify one language
 */
export function languageCode(name: string): string | null {
  const written = plain(name);
  return CODES_BY_NAME.get(written) ?? canonicalCode(written.replaceAll("_", "-"));
}

/** Returns null unless the tag identifies a language with an English name. */
function canonicalCode(tag: string): string | null {
  // `Intl.Locale` returns no language for `und`.
  let language: string | undefined;
  try {
    language = new Intl.Locale(tag).language;
  } catch {
    return null;
  }
  if (!language || NO_LANGUAGE.has(language) || ENGLISH_NAMES.of(language) === undefined) return null;
  return TWO_LETTER_CODES[language] ?? language;
}

/** Removes parentheses (`Chinese (Simplified)`) and accents and converts to lower case. */
function plain(name: string): string {
  return name
    .replace(/\([^(]*\)/u, "")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .trim()
    .toLowerCase();
}

function twoLetterCodes(): string[] {
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  return letters.flatMap((first) => letters.map((second) => first + second));
}
