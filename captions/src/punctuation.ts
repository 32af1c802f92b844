/** How speech is divided in writing, told from the marks alone so that it holds in every language. */

const CLOSERS = /[\p{Pe}\p{Pf}"'“‘]+$/u;
const SENTENCE_END = /[.!?…‥。．｡！？‼⁇⁈⁉؟۔܀-܂।॥።፧։၊။។៕᠃᠉⸮]$/u;
const CLAUSE_END = /[,;:،؛、，；：､､፣፤፥፦·՝\u2013\u2014]$/u;
const OPENS_PHRASE = /^[\p{Ps}\p{Pi}¿¡\u2013\u2014]/u;
/** `J.`, `U.S.`, `z.B.` */
const INITIALS = /^([\p{Lu}\p{Ll}]\p{M}*\.)+$/u;
/** `Mr.`, `Dr.`, `St.`, `Nr.`: a short Latin word without a vowel, which ends no sentence. */
const CONTRACTION = /^\p{Script=Latin}{1,4}\.$/u;
const VOWEL = /[aeiouy]/i;

const OPENING_ONLY = /^[\p{Ps}\p{Pi}¿¡]+$/u;
const CLOSING_ONLY = /^(?:[\p{Pe}\p{Pf}.,!?;:…‥%‰、。，．！？；：･｡､・؟،؛۔।॥።၊။។៕ฯๆ]|")+$/u;

/** A full stop, question or exclamation mark of any script ends the word, closing quotes aside. */
export function endsSentence(word: string): boolean {
  const bare = word.replace(CLOSERS, "");
  return SENTENCE_END.test(bare) && !isAbbreviation(bare);
}

/** A comma, colon, semicolon or dash of any script ends the word, closing quotes aside. */
export function endsClause(word: string): boolean {
  return CLAUSE_END.test(word.replace(CLOSERS, ""));
}

/** The word begins with what opens a phrase: a bracket, an opening quote, `¿`. */
export function opensPhrase(word: string): boolean {
  return OPENS_PHRASE.test(word);
}

/** Marks that belong to the word after them, and nothing else. */
export function isOpeningPunctuation(text: string): boolean {
  return OPENING_ONLY.test(text);
}

/** Marks that belong to the word before them, and nothing else. */
export function isClosingPunctuation(text: string): boolean {
  return CLOSING_ONLY.test(text);
}

function isAbbreviation(word: string): boolean {
  if (!word.endsWith(".")) return false;
  if (INITIALS.test(word)) return true;
  return CONTRACTION.test(word) && !VOWEL.test(word.normalize("NFD"));
}
