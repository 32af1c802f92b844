import type { GeneratedAlways, Selectable } from "kysely";

/** A language in which an environment has, or once had, searchable transcripts. */
export interface SearchLanguageTable {
  environment_id: string;
  language: string;
  /** PostgreSQL's text search dictionary that stems its words. */
  dictionary: string;
}

/**
 * A group of about 16,384 passages of one environment. The lexemes of each passage include a marker of its shard, so a
 * search can read the newest shards first and stop when it has enough matches.
 */
export interface SearchShardTable {
  /** Increases across all environments. */
  number: GeneratedAlways<number>;
  environment_id: string;
  passage_count: number;
}

export interface SearchDocumentTable {
  /** Increases in the order in which transcriptions complete. */
  number: GeneratedAlways<number>;
  transcription_id: string;
  environment_id: string;
  /** The only job that may index the transcript. */
  job_id: string;
  /** `language`, `dictionary` and `shard` are null until indexing starts, and if the transcript has no words. */
  language: string | null;
  dictionary: string | null;
  shard: number | null;
  indexed_at: Date | null;
}

export interface SearchPassageTable {
  document: number;
  ordinal: number;
  start_ms: number;
  end_ms: number;
  text: string;
  /** A `tsvector`. */
  lexemes: string;
}

export type SearchDocumentRow = Selectable<SearchDocumentTable>;
