import { type Token, tokenize } from "./tokens.ts";

/** Words that follow each other: of a quotation, of `e-mail`, or a single one. */
export interface Term {
  tokens: Token[];
  /** The last word may go on: somebody is still typing it. */
  prefix: boolean;
}

/** Passages that have all of the one kind and none of the other. */
export interface Alternative {
  wanted: Term[];
  unwanted: Term[];
}

export interface Query {
  /** Any of them will do; each wants something. */
  alternatives: Alternative[];
  /** Why there is none. */
  emptyBecause: "no_words" | "only_excluded" | null;
}

/** Shorter beginnings would match a good part of all words. */
const SHORTEST_PREFIX = 3;
const PIECE = /(-?)"([^"]*)(?:"|$)|(-?)([^\s"]+)/gv;
const QUOTES = /[“”„«»]/g;

/**
 * Reads what people type into search fields: words that all must occur, `"words in a row"`, `-without`, and
 * `OR` between alternatives. Capitals only: in French, `or` is gold. Every text is a query; none is an error.
 */
export function parseQuery(text: string): Query {
  const alternatives: Alternative[] = [{ wanted: [], unwanted: [] }];
  let open: Term | undefined;
  for (const [, quotedMinus, quoted, bareMinus, bare] of text.replace(QUOTES, '"').matchAll(PIECE)) {
    open = undefined;
    if (bare === "OR" && bareMinus === "") {
      alternatives.push({ wanted: [], unwanted: [] });
      continue;
    }
    const term = { tokens: termTokens(quoted ?? bare ?? ""), prefix: false };
    if (term.tokens.length === 0) continue;
    const { wanted, unwanted } = alternatives.at(-1)!;
    if ((quotedMinus ?? bareMinus) === "-") unwanted.push(term);
    else wanted.push(term);
    if (bare !== undefined && bareMinus === "") open = term;
  }
  const last = open?.tokens.at(-1);
  if (open && last?.kind === "word" && [...last.text].length >= SHORTEST_PREFIX) open.prefix = true;

  const useful = alternatives.filter(({ wanted }) => wanted.length > 0);
  const excludes = alternatives.some(({ unwanted }) => unwanted.length > 0);
  const emptyBecause = useful.length > 0 ? null : excludes ? "only_excluded" : "no_words";
  return { alternatives: useful, emptyBecause };
}

export function countTerms({ alternatives }: Query): number {
  return alternatives.reduce((sum, { wanted, unwanted }) => sum + wanted.length + unwanted.length, 0);
}

/** The last character of a run is asked for by the pair before it; one alone is the beginning of pairs. */
function termTokens(text: string): Token[] {
  const tokens = tokenize(text);
  return tokens.filter(({ kind, position }) => kind !== "single" || tokens[position - 2]?.kind !== "pair");
}
