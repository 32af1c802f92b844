import { type Token, tokenize } from "./tokens.ts";

/** Consecutive words: a quoted phrase, the parts of `e-mail`, or a single word. */
export interface Term {
  tokens: Token[];
  /** Whether the term was quoted; stop words then count too. */
  isQuoted: boolean;
  /** Whether the last word may be incomplete, because it is still being typed. */
  prefix: boolean;
}

/** Matches passages with all required and no excluded terms. */
export interface Alternative {
  required: Term[];
  excluded: Term[];
}

export interface Query {
  /** A passage matches if any alternative does; each alternative has required terms. */
  alternatives: Alternative[];
  /** Why there are no alternatives. */
  emptyReason: "no_words" | "only_excluded" | null;
}

/** Shorter prefixes would match too many words. */
const MIN_PREFIX_LENGTH = 3;
const TERM = /(-?)"([^"]*)(?:"|$)|(-?)([^\s"]+)/gv;
const QUOTES = /[“”„«»]/g;

/**
 * Parses the usual search syntax: words that must all occur, `"phrases"`, `-excluded` and `OR` between alternatives.
 * `OR` must be in capitals, because `or` is a word in French. Every text is a valid query.
 */
export function parseQuery(text: string): Query {
  const alternatives: Alternative[] = [{ required: [], excluded: [] }];
  let open: Term | undefined;
  for (const [, quotedMinus, quoted, bareMinus, bare] of text.replace(QUOTES, '"').matchAll(TERM)) {
    open = undefined;
    if (bare === "OR" && bareMinus === "") {
      alternatives.push({ required: [], excluded: [] });
      continue;
    }
    const isQuoted = quoted !== undefined;
    const term = { tokens: termTokens(quoted ?? bare ?? ""), isQuoted, prefix: false };
    if (term.tokens.length === 0) continue;
    const { required, excluded } = alternatives.at(-1)!;
    if ((quotedMinus ?? bareMinus) === "-") excluded.push(term);
    else required.push(term);
    if (bare !== undefined && bareMinus === "") open = term;
  }
  const last = open?.tokens.at(-1);
  if (open && last?.kind === "word" && [...last.text].length >= MIN_PREFIX_LENGTH) open.prefix = true;

  const useful = alternatives.filter(({ required }) => required.length > 0);
  const excludes = alternatives.some(({ excluded }) => excluded.length > 0);
  const emptyReason = useful.length > 0 ? null : excludes ? "only_excluded" : "no_words";
  return { alternatives: useful, emptyReason };
}

export function countTerms({ alternatives }: Query): number {
  return alternatives.reduce((sum, { required, excluded }) => sum + required.length + excluded.length, 0);
}

/**
 * Drops the last character of a run, which the preceding pair already contains. A run of one character is kept: it
 * matches the start of pairs.
 */
function termTokens(text: string): Token[] {
  const tokens = tokenize(text);
  return tokens.filter(({ kind, position }) => kind !== "single" || tokens[position - 2]?.kind !== "pair");
}
