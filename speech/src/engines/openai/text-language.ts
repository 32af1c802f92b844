/** Shorter texts are too often taken for a similar language: Spanish for Catalan. */
const MIN_CHARACTERS = 40;
/** Indonesian is taken for Malay. */
const CONFUSED = new Set(["ms"]);

/**
 * Detects the language of a text, for servers that do not report it.
 * @returns ISO code; null if the text is short, or the result not reliable
 */
export async function textLanguage(text: string): Promise<string | null> {
  if ([...text].length < MIN_CHARACTERS) return null;
  // Loaded only if a server needs it: its tables take 100 MB.
  const { eld } = await import("eld/small");
  const result = eld.detect(text);
  return result.isReliable() && !CONFUSED.has(result.language) ? result.language : null;
}
