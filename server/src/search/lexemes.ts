import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import { fold, type Token } from "./tokens.ts";

/** PostgreSQL's stemmer for each language that it may have one for; which are there depends on its version. */
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

/** For languages without a stemmer: a word is found as it stands, accents aside. */
const NO_DICTIONARY = "simple";

/** The dictionary of a language (ISO 639) on this database. */
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

/** What stands in the index for a word; null for one that is too common to be looked for. */
export type Lexemes = ReadonlyMap<string, readonly string[] | null>;

/**
 * Looks words up, as `tokenize` gives them. A word has two lexemes where its stem depends on its accents, so
 * that it is found with and without them.
 */
export async function lookUp(db: Db, dictionary: string, words: Iterable<string>): Promise<Lexemes> {
  const distinct = [...new Set(words)];
  if (dictionary === NO_DICTIONARY) return new Map(distinct.map((word) => [word, [fold(word)]]));
  const asked = [...new Set(distinct.flatMap((word) => [word, fold(word)]))];
  const { rows } = await sql<{ word: string; stems: string[] | null }>`
    select word, ts_lexize(${dictionary}::regdictionary, word) as stems
    from unnest(${asked}::text[]) as word
  `.execute(db);
  const stems = new Map(rows.map((row) => [row.word, row.stems ?? [row.word]]));
  return new Map(
    distinct.map((word) => {
      const own = stems.get(word)!;
      if (own.length === 0) return [word, null];
      const folded = [...own, ...stems.get(fold(word))!].map(fold).filter((stem) => stem !== "");
      return [word, [...new Set(folded)]];
    }),
  );
}

/** The lexemes of a token; pairs of characters are their own. */
export function lexemesOf(lexemes: Lexemes, { text, kind }: Token): readonly string[] | null {
  return kind === "word" ? (lexemes.get(text) ?? null) : [fold(text)];
}

/** The texts of those tokens that have to be looked up. */
export function wordsOf(tokens: readonly Token[]): string[] {
  return tokens.filter(({ kind }) => kind === "word").map(({ text }) => text);
}

/** A passage's `tsvector`, as PostgreSQL reads it, with the marker of the shard that it lies in. */
export function renderVector(tokens: readonly Token[], lexemes: Lexemes, shard: number): string {
  const positions = new Map<string, number[]>();
  for (const token of tokens) {
    for (const lexeme of lexemesOf(lexemes, token) ?? []) {
      const places = positions.get(lexeme);
      if (places) places.push(token.position);
      else positions.set(lexeme, [token.position]);
    }
  }
  const entries = [...positions].map(([lexeme, places]) => `${quote(lexeme)}:${places.join(",")}`);
  return [quote(shardMarker(shard)), ...entries].join(" ");
}

/** A lexeme that no word has. */
export function shardMarker(shard: number): string {
  return `#${shard}`;
}

/** Lexemes hold letters, marks and digits, and a shard's marker; quoted all the same. */
export function quote(lexeme: string): string {
  return `'${lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
