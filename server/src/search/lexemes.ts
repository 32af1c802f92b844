import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import { fold, type Token } from "./tokens.ts";

/** PostgreSQL's stemmers, keyed by language. Not every PostgreSQL version has all of them. */
const STEMMERS: Record<string, string> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  et: "estonian",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  ne: "nepali",
  nl: "dutch",
  nn: "norwegian",
  no: "norwegian",
  pl: "polish",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/** For languages without a stemmer: words match as written, except for accents. */
const NO_DICTIONARY = "simple";

export async function dictionaryOf(db: Db, language: string | null): Promise<string> {
  const stemmer = STEMMERS[language ?? ""];
  if (stemmer === undefined) return NO_DICTIONARY;
  const name = `${stemmer}_stem`;
  const { rows } = await sql`
    select from pg_catalog.pg_ts_dict
    where dictname = ${name} and dictnamespace = 'pg_catalog'::regnamespace
  `.execute(db);
  return rows.length > 0 ? name : NO_DICTIONARY;
}

export interface WordLexemes {
  lexemes: readonly string[];
  /** Stop words matter only in quoted phrases. */
  isStopWord: boolean;
}

export type Lexemes = ReadonlyMap<string, WordLexemes>;

/**
 * Looks up the lexemes of words. A word has two if its stem depends on its accents, so that searches with and without
 * accents find it. A stop word is its own lexeme.
 */
export async function lookUpLexemes(db: Db, dictionary: string, tokens: Iterable<Token>): Promise<Lexemes> {
  const words = [...new Set([...tokens].filter(({ kind }) => kind === "word").map(({ text }) => text))];
  if (dictionary === NO_DICTIONARY) {
    return new Map(words.map((word) => [word, { lexemes: [fold(word)], isStopWord: false }]));
  }
  const { rows } = await sql<{ word: string; stems: string[] | null }>`
    select word, ts_lexize(${dictionary}::regdictionary, word) as stems
    from unnest(${[...new Set(words.flatMap((word) => [word, fold(word)]))]}::text[]) as word
  `.execute(db);
  const stems = new Map(rows.map((row) => [row.word, row.stems ?? [row.word]]));
  return new Map(
    words.map((word) => {
      const own = stems.get(word)!;
      const isStopWord = own.length === 0;
      const folded = isStopWord ? [fold(word)] : [...own, ...stems.get(fold(word))!].map(fold);
      return [word, { lexemes: [...new Set(folded)].filter((lexeme) => lexeme !== ""), isStopWord }];
    }),
  );
}

/** A pair of characters is its own lexeme. */
export function lexemesOf(lexemes: Lexemes, { text, kind }: Token): WordLexemes {
  const known = kind === "word" ? lexemes.get(text) : undefined;
  return known ?? { lexemes: [fold(text)], isStopWord: false };
}

/** Renders a passage's `tsvector`, including the marker of its shard, in PostgreSQL's text format. */
export function renderVector(tokens: readonly Token[], lexemes: Lexemes, shard: number): string {
  const entries = tokens.flatMap((token) =>
    lexemesOf(lexemes, token).lexemes.map((lexeme) => `${quote(lexeme)}:${token.position}`),
  );
  return [quote(shardMarker(shard)), ...entries].join(" ");
}

/** Returns a lexeme that no word can have, because it contains a `#`. */
export function shardMarker(shard: number): string {
  return `#${shard}`;
}

/** Quotes a lexeme for the text format of `tsvector` and `tsquery`. */
export function quote(lexeme: string): string {
  return `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
