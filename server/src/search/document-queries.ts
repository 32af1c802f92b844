import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { SearchDocumentRow } from "../db/tables/search.ts";

export type Unindexed = SearchDocumentRow & {
  spoken: string;
  file_prefix: string;
  edited_prefix: string | null;
};

/** A shard with this many passages gets no more documents; see `SearchShardTable`. */
const SHARD_PASSAGES = 16_384;

interface NewDocument {
  transcriptionId: string;
  environmentId: string;
  jobId: string;
}

export async function insertSearchDocument(tx: Tx, document: NewDocument): Promise<void> {
  await insertion(tx, document).execute();
}

/** Makes the job index the transcript again. Until then, searches find the previous words. */
export async function reindexTranscript(tx: Tx, document: NewDocument): Promise<void> {
  await insertion(tx, document)
    .onConflict((conflict) =>
      conflict.column("transcription_id").doUpdateSet({ job_id: document.jobId, indexed_at: null }),
    )
    .execute();
}

function insertion(tx: Tx, { transcriptionId, environmentId, jobId }: NewDocument) {
  return tx
    .insertInto("search_document")
    .values({ transcription_id: transcriptionId, environment_id: environmentId, job_id: jobId });
}

/** Returns undefined if the job has nothing to do. */
export async function findUnindexed(
  db: Db,
  transcriptionId: string,
  jobId: string,
): Promise<Unindexed | undefined> {
  return await db
    .selectFrom("search_document as document")
    .innerJoin("transcription", "transcription.id", "document.transcription_id")
    .selectAll("document")
    .select(["transcription.language as spoken", "transcription.file_prefix", "transcription.edited_prefix"])
    .where("document.transcription_id", "=", transcriptionId)
    .where("document.job_id", "=", jobId)
    .where("document.indexed_at", "is", null)
    .$narrowType<{ spoken: string; file_prefix: string }>()
    .executeTakeFirst();
}

/**
 * Assigns the document to the environment's newest shard that is not full, or to a new one. From then on, searches in the
 * environment cover the document's language.
 */
export async function assignShard(tx: Tx, document: Unindexed, dictionary: string): Promise<number> {
  const { environment_id, spoken: language } = document;
  await tx
    .insertInto("search_language")
    .values({ environment_id, language, dictionary })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const newest = await tx
    .selectFrom("search_shard")
    .select("number")
    .where("environment_id", "=", environment_id)
    .where("passage_count", "<", SHARD_PASSAGES)
    .orderBy("number", "desc")
    .executeTakeFirst();
  const shard =
    newest?.number ??
    (
      await tx
        .insertInto("search_shard")
        .values({ environment_id, passage_count: 0 })
        .returning("number")
        .executeTakeFirstOrThrow()
    ).number;
  await tx
    .updateTable("search_document")
    .set({ shard, language, dictionary })
    .where("number", "=", document.number)
    .execute();
  return shard;
}

interface NewPassage {
  ordinal: number;
  startMs: number;
  endMs: number;
  text: string;
  /** A `tsvector` in PostgreSQL's text format. */
  lexemes: string;
}

/**
 * Writes consecutive passages of a document and replaces existing ones.
 * @returns false if the document was deleted or got another job in the meantime
 */
export async function insertPassages(
  tx: Tx,
  document: { number: number; shard: number; jobId: string },
  passages: readonly NewPassage[],
): Promise<boolean> {
  if (!(await lockDocument(tx, document))) return false;
  const removed = await deletePassages(tx, document.number, {
    from: passages[0]?.ordinal ?? 0,
    to: passages.at(-1)?.ordinal ?? -1,
  });
  const column = <T>(read: (passage: NewPassage) => T) => passages.map(read);
  const { numAffectedRows = 0n } = await sql`
    insert into search_passage (document, ordinal, start_ms, end_ms, text, lexemes)
    select ${document.number}, ordinal, start_ms, end_ms, text, lexemes::tsvector
    from unnest(
      ${column(({ ordinal }) => ordinal)}::integer[],
      ${column(({ startMs }) => startMs)}::integer[],
      ${column(({ endMs }) => endMs)}::integer[],
      ${column(({ text }) => text)}::text[],
      ${column(({ lexemes }) => lexemes)}::text[]
    ) as passage (ordinal, start_ms, end_ms, text, lexemes)
  `.execute(tx);
  await countPassages(tx, document.shard, Number(numAffectedRows) - removed);
  return true;
}

/**
 * Marks the document as indexed and deletes the passages of an earlier, longer transcript. Does nothing if the document
 * got another job in the meantime.
 * @param passageCount number of passages of the current transcript
 */
export async function finishDocument(
  tx: Tx,
  document: { number: number; jobId: string },
  { passageCount, now }: { passageCount: number; now: Date },
): Promise<void> {
  const row = await lockDocument(tx, document);
  if (!row) return;
  const removed = await deletePassages(tx, document.number, { from: passageCount, to: null });
  if (row.shard !== null && removed > 0) await countPassages(tx, row.shard, -removed);
  await tx
    .updateTable("search_document")
    .set({ indexed_at: now })
    .where("number", "=", document.number)
    .execute();
}

/** Locks the document until the transaction ends, so that a change of its job waits. */
async function lockDocument(
  tx: Tx,
  { number, jobId }: { number: number; jobId: string },
): Promise<{ shard: number | null } | undefined> {
  return await tx
    .selectFrom("search_document")
    .select("shard")
    .where("number", "=", number)
    .where("job_id", "=", jobId)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * @param to inclusive; null for all passages from `from`
 * @returns the number of deleted passages
 */
async function deletePassages(
  tx: Tx,
  document: number,
  { from, to }: { from: number; to: number | null },
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom("search_passage")
    .where("document", "=", document)
    .where("ordinal", ">=", from)
    .$if(to !== null, (query) => query.where("ordinal", "<=", to!))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

async function countPassages(tx: Tx, shard: number, change: number): Promise<void> {
  await tx
    .updateTable("search_shard")
    .set((set) => ({ passage_count: set("passage_count", "+", change) }))
    .where("number", "=", shard)
    .execute();
}
