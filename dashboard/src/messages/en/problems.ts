import { translated } from "../translated.ts";

/**
 * Texts for problem documents by their code. The server's own text is English and more specific, so English has none, and
 * German has none for codes whose text names what is wrong, such as `invalid_request`.
 */
export const problems = translated("problems", {} as Partial<Record<string, string>>);
