import { type Token, tokenize } from "./tokens.ts";

/** Adjacent words: a quoted phrase, the parts of `e-mail`, or a single word. */
export interface Term {
  tokens: Token[];
  /** Stop words count only in quoted terms. */
  isQuoted: boolean;
  /** Whether the last word may be incomplete because the user is still typing. */
  prefix: boolean;
}

export interface Alternative {
  required: Term[];
  excluded: Term[];
}

export interface Query {
  /**
   * A passage matches if it matches any alternative: it contains all required and no excluded terms. Each alternative
   * has required terms.
   */
  alternatives: Alternative[];
  /** Why there are no alternatives; null if there are some. */
  emptyReason: "no_words" | "only_excluded" | null;
}

/** Shorter prefixes would match too many words. */
const MIN_PREFIX_LENGTH = 3;
const TERM = /(-?)"([^"]*)(?:"|$)|(-?)([^\s"]+)/gv;
const QUOTES = /[“”„«»]/g;

/**
 * Parses a search: required words, `"phrases"`, `-excluded` words, and `OR` between alternatives. `OR` must be in
 * capitals, because `or` is a French word. Every text is a valid query.
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
 * Drops the single last character of a run, because the preceding pair contains it. Keeps a run of only one character,
 * which matches the start of pairs.
 */
function termTokens(text: string): Token[] {
  const tokens = tokenize(text);
  return tokens.filter(({ kind, position }) => kind !== "single" || tokens[position - 2]?.kind !== "pair");
}
