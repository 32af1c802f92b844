import { AppError } from "../lib/errors.ts";

export const MAX_VOCABULARY_TERMS = 100;
const MAX_TERM_CHARACTERS = 50;

/**
 * Validates and normalizes the terms for storage.
 * @throws AppError `invalid_request`
 */
export function checkedVocabulary(vocabulary: readonly string[]): string[] {
  const terms = vocabulary.map((term) => term.trim().normalize("NFC"));
  if (terms.length > MAX_VOCABULARY_TERMS) {
    throw new AppError("invalid_request", `A vocabulary has at most ${MAX_VOCABULARY_TERMS} terms.`);
  }
  const wrong = terms.findIndex((term) => !isTerm(term));
  if (wrong >= 0) {
    throw new AppError(
      "invalid_request",
      `A term has 1 to ${MAX_TERM_CHARACTERS} printable characters and no comma. Change number ${wrong + 1}.`,
    );
  }
  const seen = new Set<string>();
  for (const term of terms) {
    const key = term.toLowerCase();
    if (seen.has(key)) throw new AppError("invalid_request", `The vocabulary contains ${term} twice.`);
    seen.add(key);
  }
  return terms;
}

/** Terms are separated by commas. Invisible characters would reach the model's prompt unnoticed. */
function isTerm(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= MAX_TERM_CHARACTERS && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp},]/u.test(text);
}
