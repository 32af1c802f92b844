import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** A passage that was found, and how well it fits: the higher the better. */
export interface Candidate {
  document: number;
  ordinal: number;
  rank: number;
}

/** The dictionaries of the environment's transcripts, with the languages that are in each. */
export async function searchLanguages(
  db: Db,
  environmentId: string,
): Promise<{ dictionary: string; language: string | null; documents: number }[]> {
  const { rows } = await sql<{ dictionary: string; language: string | null; documents: number }>`
    select dictionary, language, count(*) as documents
    from search_document join transcription on transcription.id = transcription_id
    where search_document.environment_id = ${environmentId} and dictionary is not null
    group by dictionary, language order by documents desc, language
  `.execute(db);
  return rows;
}

/** The environment's shards, newest first. */
export async function searchShards(db: Db, environmentId: string): Promise<number[]> {
  const rows = await db
    .selectFrom("search_shard")
    .select("number")
    .where("environment_id", "=", environmentId)
    .orderBy("number", "desc")
    .execute();
  return rows.map(({ number }) => number);
}

/**
 * Passages of an environment that a `tsquery` is true of, at most `limit`, in no order.
 * @param shards PostgreSQL's `tsquery` for the markers of the shards that are searched
 */
export async function findCandidates(
  db: Db,
  environmentId: string,
  search: {
    tsquery: string;
    exactTsquery: string;
    shards: string;
    language: string | null;
    limit: number;
  },
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select passage.document, passage.ordinal,
      ts_rank_cd(passage.lexemes, ${search.tsquery}::tsquery)
      + ts_rank_cd(passage.lexemes, ${search.exactTsquery}::tsquery) as rank
    from search_passage as passage
    join search_document as document on document.number = passage.document
    join transcription on transcription.id = document.transcription_id
    where passage.lexemes @@ ${`(${search.tsquery}) & (${search.shards})`}::tsquery
      and document.environment_id = ${environmentId}
      and (${search.language}::text is null or transcription.language = ${search.language})
    limit ${search.limit}
  `.execute(db);
  return rows;
}

export interface FoundDocument {
  number: number;
  dictionary: string;
  videoId: string;
}

export async function findDocuments(db: Db, numbers: number[]): Promise<Map<number, FoundDocument>> {
  if (numbers.length === 0) return new Map();
  const rows = await db
    .selectFrom("search_document")
    .innerJoin("transcription", "transcription.id", "search_document.transcription_id")
    .select(["search_document.number", "dictionary", "video_id as videoId"])
    .where("search_document.number", "in", numbers)
    .$narrowType<{ dictionary: string }>()
    .execute();
  return new Map(rows.map((row) => [row.number, row]));
}

export interface FoundPassage {
  document: number;
  ordinal: number;
  startMs: number;
  endMs: number;
  text: string;
}

/** In the order of documents and, in each, of time; those that are gone are left out. */
export async function findPassages(
  db: Db,
  places: readonly { document: number; ordinal: number }[],
): Promise<FoundPassage[]> {
  if (places.length === 0) return [];
  const { rows } = await sql<FoundPassage>`
    select document, ordinal, start_ms as "startMs", end_ms as "endMs", text
    from search_passage
    join unnest(
      ${places.map(({ document }) => document)}::integer[], ${places.map(({ ordinal }) => ordinal)}::integer[]
    ) as place (document, ordinal) using (document, ordinal)
    order by document, ordinal
  `.execute(db);
  return rows;
}
