import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** A matching passage and its rank: higher is better. */
export interface Candidate {
  document: number;
  ordinal: number;
  rank: number;
}

/** The languages of the environment's transcripts, and the stemmer of each. */
export async function searchLanguages(
  db: Db,
  environmentId: string,
): Promise<{ dictionary: string; language: string }[]> {
  return await db
    .selectFrom("search_language")
    .select(["dictionary", "language"])
    .where("environment_id", "=", environmentId)
    .orderBy("language")
    .execute();
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
 * Finds passages of an environment that match a `tsquery`, at most `limit`, in no particular order.
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
    where passage.lexemes @@ ${`(${search.tsquery}) & (${search.shards})`}::tsquery
      and document.environment_id = ${environmentId}
      and (${search.language}::text is null or document.language = ${search.language})
    limit ${search.limit}
  `.execute(db);
  return rows;
}

interface FoundDocument {
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

/** Sorted by document and, within each, by time. Skips passages that no longer exist. */
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
