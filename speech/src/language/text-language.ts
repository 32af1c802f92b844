import { loadCld3 } from "./cld3.ts";

/** The language of shorter texts is too often confused with a similar one, such as Spanish with Galician. */
const MIN_CHARACTERS = 40;
const MIN_PROBABILITY = 0.9;
const SHORT_TEXT = { characters: 60, minProbability: 0.99 };
/** Languages that CLD3 confuses with each other, and those that it reports for one of the models that it does not know. */
const CONFUSED = new Set(["ms", "id", "hr", "bs", "ky", "ga", "gd", "ig", "ny", "sm"]);
/** Text that CLD3 takes for another language, with the letters that give it away. */
const CORRECTIONS: readonly { detected: string[]; evidence: RegExp; language: string }[] = [
  { detected: ["bn"], evidence: /[ৰৱ]/u, language: "as" },
  { detected: ["ru", "kk", "ky"], evidence: /[ҙҫҡ]/iu, language: "ba" },
  { detected: ["ht", "ga", "gd"], evidence: /c['’ʼ]h/iu, language: "br" },
  { detected: ["is"], evidence: /ø/iu, language: "fo" },
  { detected: ["tr", "az"], evidence: /[ňýž]/iu, language: "tk" },
  { detected: ["tg"], evidence: /ў/iu, language: "uz" },
  { detected: ["vi"], evidence: /ṣ|[ẹọ][\u0300\u0301]/iu, language: "yo" },
  { detected: ["zh"], evidence: /[嘅喺哋嚟咗冇啲]/u, language: "yue" },
  // Occitan, Sanskrit and Tatar. A few Catalan and Marathi words also match.
  { detected: ["ca"], evidence: /\p{L}[ln]h/iu, language: "und" },
  { detected: ["mr"], evidence: /[\u094d\u0903](?![\p{L}\p{M}])/u, language: "und" },
  { detected: ["ru"], evidence: /[әөүҗңһ]/iu, language: "und" },
  // Lingala has neither of these letters, Swahili many of them.
  { detected: ["sw"], evidence: /^[^hj]*$/iu, language: "und" },
];
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
  Oriya: "or",
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

let cld3: ReturnType<typeof loadCld3> | undefined;

/**
 * Detects the language of a text, for engines that do not report it.
 * @returns ISO code; `und` if the text is in one of several languages that are often confused; null if it is too short
 *   or the result is not reliable
 */
export async function textLanguage(text: string): Promise<string | null> {
  const letters = text.match(/\p{L}|\p{M}/gu)?.length ?? 0;
  for (const script of SCRIPTS) {
    const count = text.match(script.letters)?.length ?? 0;
    if (count >= MIN_SCRIPT_LETTERS && count > letters / 2) return script.language;
  }
  const characters = [...text].length;
  if (characters < MIN_CHARACTERS) return null;
  cld3 ??= loadCld3();
  const { language, probability } = (await cld3).detect(text);
  const correction = CORRECTIONS.find(
    ({ detected, evidence }) => detected.includes(language) && evidence.test(text.normalize()),
  );
  if (correction !== undefined) return correction.language;
  if (CONFUSED.has(language)) return "und";
  const minProbability = characters < SHORT_TEXT.characters ? SHORT_TEXT.minProbability : MIN_PROBABILITY;
  return probability < minProbability ? null : language;
}
