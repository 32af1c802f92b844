import { type Kysely, sql } from "kysely";

/**
 * The index now contains stop words, which quoted phrases need. Empties the index: the sweep finds completed
 * transcriptions without a document and has them indexed again.
 */
export async function searchStopWords(db: Kysely<unknown>): Promise<void> {
  await sql`delete from search_document`.execute(db);
  await sql`delete from search_shard`.execute(db);
}
