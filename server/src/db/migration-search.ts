import { type Kysely, sql } from "kysely";

/** The tables of the transcript search: passages, their transcripts, and their shards. */
export async function search(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("search_language")
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("language", "text", (c) => c.notNull())
    .addColumn("dictionary", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("search_language_pkey", ["environment_id", "language", "dictionary"])
    .execute();

  await db.schema
    .createTable("search_shard")
    .addColumn("number", "integer", (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("passage_count", "integer", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("search_shard_environment")
    .on("search_shard")
    .columns(["environment_id", "number"])
    .execute();

  await db.schema
    .createTable("search_document")
    .addColumn("number", "integer", (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn("transcription_id", "text", (c) =>
      c.notNull().unique().references("transcription.id").onDelete("cascade"),
    )
    .addColumn("environment_id", "text", (c) => c.notNull().references("environment.id").onDelete("cascade"))
    .addColumn("job_id", "uuid", (c) => c.notNull())
    .addColumn("language", "text")
    .addColumn("dictionary", "text")
    .addColumn("shard", "integer", (c) => c.references("search_shard.number"))
    .addColumn("indexed_at", "timestamptz")
    .execute();
  await db.schema
    .createIndex("search_document_waiting")
    .on("search_document")
    .column("number")
    .where(sql.ref("indexed_at"), "is", null)
    .execute();

  await db.schema
    .createTable("search_passage")
    .addColumn("document", "integer", (c) =>
      c.notNull().references("search_document.number").onDelete("cascade"),
    )
    .addColumn("ordinal", "integer", (c) => c.notNull())
    .addColumn("start_ms", "integer", (c) => c.notNull())
    .addColumn("end_ms", "integer", (c) => c.notNull())
    .addColumn("text", "text", (c) => c.notNull())
    .addColumn("lexemes", sql`tsvector`, (c) => c.notNull())
    .addPrimaryKeyConstraint("search_passage_pkey", ["document", "ordinal"])
    .execute();
  // Without GIN's pending list, which every search would have to scan.
  await sql`
    create index search_passage_lexemes on search_passage using gin (lexemes) with (fastupdate = off)
  `.execute(db);
}
