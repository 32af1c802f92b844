/** Shorter texts are too often mistaken for a similar language, such as Spanish for Catalan. */
const MIN_CHARACTERS = 40;
/** Indonesian is often mistaken for Malay. */
const CONFUSED = new Set(["ms"]);

/**
 * Detects the language of a text, for servers that do not report it.
 * @returns ISO code; null if the text is short or the result is not reliable
 */
export async function textLanguage(text: string): Promise<string | null> {
  if ([...text].length < MIN_CHARACTERS) return null;
  // Loaded on demand, because its tables take 100 MB.
  const { eld } = await import("eld/small");
  const result = eld.detect(text);
  return result.isReliable() && !CONFUSED.has(result.language) ? result.language : null;
}
