import { type Lexemes, lexemesOf, quote, type WordLexemes } from "./lexemes.ts";
import type { Alternative, Query, Term } from "./query.ts";
import type { Token } from "./tokens.ts";

/** A word of a search term. */
interface Step {
  /** Distance from the first word of the term. */
  offset: number;
  lexemes: readonly string[];
  prefix: boolean;
  /** Whether the term is quoted. Stop words match only in quoted terms. */
  isQuoted: boolean;
  /**
   * Whether this is a single character of a script without spaces. It matches each pair that begins with it, and only
   * the pair's first character is highlighted.
   */
  isSingle: boolean;
}

type Steps = readonly Step[];

/** A query compiled for one dictionary. */
export interface Matcher {
  /** In PostgreSQL's text format. */
  tsquery: string;
  /** The same query without prefix matches, for ranking exact matches higher. */
  exactTsquery: string;
  terms: readonly Steps[];
}

/** Returns null if the query contains only stop words. */
export function createMatcher({ alternatives }: Query, lexemes: Lexemes): Matcher | null {
  const compiled = alternatives
    .map((alternative) => compileAlternative(alternative, lexemes))
    .filter(({ required }) => required.length > 0);
  if (compiled.length === 0) return null;
  const render = (exact: boolean) =>
    compiled
      .map(({ required, excluded }) => {
        const clauses = [
          ...required.map((steps) => renderSteps(steps, exact)),
          ...excluded.map((steps) => `!(${renderSteps(steps, true)})`),
        ];
        return `(${clauses.join(" & ")})`;
      })
      .join(" | ");
  return {
    tsquery: render(false),
    exactTsquery: render(true),
    terms: compiled.flatMap(({ required }) => required),
  };
}

function compileAlternative({ required, excluded }: Alternative, lexemes: Lexemes) {
  const readAll = (terms: Term[]) =>
    terms.map((term) => compileTerm(term, lexemes)).filter((steps) => steps.length > 0);
  return { required: readAll(required), excluded: readAll(excluded) };
}

function compileTerm({ tokens, prefix, isQuoted }: Term, lexemes: Lexemes): Step[] {
  const steps = tokens.flatMap((token) => {
    const { lexemes: found, isStopWord } = lexemesOf(lexemes, token);
    if (isStopWord && !isQuoted) return [];
    const isSingle = token.kind === "single";
    const isPrefix = prefix && token === tokens.at(-1);
    return [{ position: token.position, lexemes: found, isQuoted, prefix: isPrefix || isSingle, isSingle }];
  });
  const first = steps[0]?.position ?? 0;
  return steps.map(({ position, ...step }) => ({ ...step, offset: position - first }));
}

function renderSteps(steps: Steps, exact: boolean): string {
  let text = "";
  let before = 0;
  for (const { offset, lexemes, prefix, isSingle } of steps) {
    if (text !== "") text += ` <${offset - before}> `;
    const suffix = prefix && (isSingle || !exact) ? ":*" : "";
    text += `(${lexemes.map((lexeme) => quote(lexeme) + suffix).join(" | ")})`;
    before = offset;
  }
  return text;
}

/** Returns the ranges to highlight in a passage: `[start, end]` in UTF-16 units, in order, without overlaps. */
export function findMarks(
  tokens: readonly Token[],
  lexemes: Lexemes,
  terms: readonly Steps[],
): [start: number, end: number][] {
  const own = tokens.map((token) => lexemesOf(lexemes, token));
  const found: [number, number][] = [];
  for (const steps of terms) {
    for (let at = 0; at < tokens.length; at++) {
      const hits = steps.map((step) => hit(step, tokens[at + step.offset], own[at + step.offset]));
      if (hits.every((each) => each !== null)) found.push(...hits);
    }
  }
  return merge(found);
}

function hit(
  { lexemes, isQuoted, prefix, isSingle }: Step,
  token: Token | undefined,
  own: WordLexemes | undefined,
): [number, number] | null {
  if (!token || !own || (own.isStopWord && !isQuoted)) return null;
  const matches = own.lexemes.some((each) =>
    lexemes.some((required) => (prefix ? each.startsWith(required) : each === required)),
  );
  return matches ? [token.start, isSingle ? token.headEnd : token.end] : null;
}

function merge(ranges: [number, number][]): [number, number][] {
  const merged: [number, number][] = [];
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}
