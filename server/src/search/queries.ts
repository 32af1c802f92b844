import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** A matching passage. A higher rank is better. */
export interface Candidate {
  document: number;
  ordinal: number;
  rank: number;
}

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

/** Newest first. */
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
 * Finds at most `limit` passages that match, in no particular order.
 * @param shards a `tsquery` that matches the markers of the shards to search
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

/** Returns passages sorted by document and time. Omits passages that no longer exist. */
export async function findPassages(
  db: Db,
  keys: readonly { document: number; ordinal: number }[],
): Promise<FoundPassage[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<FoundPassage>`
    select document, ordinal, start_ms as "startMs", end_ms as "endMs", text
    from search_passage
    join unnest(
      ${keys.map(({ document }) => document)}::integer[], ${keys.map(({ ordinal }) => ordinal)}::integer[]
    ) as key (document, ordinal) using (document, ordinal)
    order by document, ordinal
  `.execute(db);
  return rows;
}
