/** The lookbehind keeps the time linear: a run of quotes within the word is tried only once. */
const CLOSERS = /(?<![\p{Pe}\p{Pf}"'“‘])[\p{Pe}\p{Pf}"'“‘]+$/u;
const SENTENCE_END = /[.!?…‥。．｡！？‼⁇⁈⁉؟۔܀-܂।॥።፧։၊။។៕᠃᠉⸮]$/u;
const CLAUSE_END = /[,;:،؛、，；：､､፣፤፥፦·՝\u2013\u2014]$/u;
const OPENS_PHRASE = /^[\p{Ps}\p{Pi}¿¡\u2013\u2014]/u;
/** `J.`, `U.S.`, `z.B.` */
const INITIALS = /^([\p{Lu}\p{Ll}]\p{M}*\.)+$/u;
/** `Mr.`, `Dr.`, `St.`, `Nr.`: abbreviations are short words without a vowel. */
const SHORT_LATIN_WORD = /^\p{Script=Latin}{1,4}\.$/u;
const VOWEL = /[aeiouy]/i;

const OPENING_ONLY = /^[\p{Ps}\p{Pi}¿¡]+$/u;
const CLOSING_ONLY = /^(?:[\p{Pe}\p{Pf}.,!?;:…‥%‰、。，．！？；：･｡､・؟،؛۔।॥።၊။។៕ฯๆ]|")+$/u;

/**
 * Returns whether the word ends with an ellipsis, or with a period, question mark or exclamation mark of any script.
 * Closing quotes and brackets are ignored. The period of an abbreviation, such as `Mr.` or `U.S.`, does not count.
 */
export function endsSentence(word: string): boolean {
  const bare = word.replace(CLOSERS, "");
  return SENTENCE_END.test(bare) && !isAbbreviation(bare);
}

/**
 * Returns whether the word ends with a comma, colon, semicolon or dash of any script. Closing quotes and brackets are
 * ignored.
 */
export function endsClause(word: string): boolean {
  return CLAUSE_END.test(word.replace(CLOSERS, ""));
}

export function opensPhrase(word: string): boolean {
  return OPENS_PHRASE.test(word);
}

/** Returns whether the text is only punctuation that belongs to the next word. */
export function isOpeningPunctuation(text: string): boolean {
  return OPENING_ONLY.test(text);
}

/** Returns whether the text is only punctuation that belongs to the previous word. */
export function isClosingPunctuation(text: string): boolean {
  return CLOSING_ONLY.test(text);
}

function isAbbreviation(word: string): boolean {
  if (!word.endsWith(".")) return false;
  if (INITIALS.test(word)) return true;
  return SHORT_LATIN_WORD.test(word) && !VOWEL.test(word.normalize("NFD"));
}
