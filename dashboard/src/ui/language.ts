import { readLocal, writeLocal } from "../hooks/local-storage.ts";

const LANGUAGES = ["en", "de"] as const;
/** `browser` follows the browser's languages. */
export type Language = "browser" | (typeof LANGUAGES)[number];

const KEY = "subtext.language";

export function selectedLanguage(): Language {
  const stored = readLocal(KEY);
  return LANGUAGES.find((language) => language === stored) ?? "browser";
}

/** Takes effect when the page is loaded again, because modules read their messages once. */
export function selectLanguage(language: Language): void {
  writeLocal(KEY, language === "browser" ? null : language);
}

/**
 * Returns e.g. `de-AT`: the language that was selected, or else the first of the browser's languages that has messages,
 * with the browser's region if it names one for that language.
 */
export function chooseLocale(selected: Language, browserLanguages: readonly string[]): string {
  const speaks = (locale: string, language: string) => locale.split("-")[0]?.toLowerCase() === language;
  const wanted = selected === "browser" ? LANGUAGES : [selected];
  const locale = browserLanguages.find((each) => wanted.some((language) => speaks(each, language)));
  return locale ?? (selected === "browser" ? "en" : selected);
}
