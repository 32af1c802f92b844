import { CompiledQuery } from "kysely";
import type { Db, Tx } from "../db/schema.ts";
import type { StoreMark } from "../storage/ownership/store-mark.ts";

/** Number of 8 KB pages of a table that are in memory at a time. */
const PAGES_AT_A_TIME = 32;

export interface CopiedTable {
  name: string;
  rows: number;
}

export interface CopyOptions {
  /** Identity and location of the target; see `StoreOwnership`. */
  mark: StoreMark;
  home: string;
  onTable(name: string, done: number, total: number): void;
}

/**
 * Copies all rows in one transaction into tables of the same migrations, and compares the number and the checksum of
 * the rows of each table. Jobs of the queue are not copied: the sweep creates them again, with new places in the queue.
 * @param source an embedded database that nothing else is using
 */
export async function copyDatabase(
  source: Db,
  target: Db,
  { mark, home, onTable }: CopyOptions,
): Promise<CopiedTable[]> {
  const tables = await tablesByDependency(source);
  const copied = await target.transaction().execute(async (tx) => {
    // Reading from the source can take longer than the limit for idle transactions.
    await run(tx, "set local idle_in_transaction_session_timeout = 0");
    // Keeps `changed_at` of the rows. Foreign-key triggers stay enabled, because only a superuser can disable them.
    for (const name of tables) await run(tx, `alter table "${name}" disable trigger user`);
    // Removes rows that migrations inserted, such as the queue's clock.
    for (const name of tables.toReversed()) await run(tx, `delete from "${name}"`);
    const copied: CopiedTable[] = [];
    for (const [index, name] of tables.entries()) {
      onTable(name, index, tables.length);
      copied.push({ name, rows: await copyTable(source, tx, name) });
    }
    for (const name of tables) await run(tx, `alter table "${name}" enable trigger user`);
    await tx.updateTable("environment_queue").set({ finish_tag: 0, retag_from: null }).execute();
    await tx.updateTable("queue_clock").set({ virtual_time: 0, base: 0 }).execute();
    await setStoreRecord(tx, mark, home);
    return copied;
  });
  await run(target, "analyze");
  return copied;
}

/** Makes the database the owner of the store that has the mark. */
export async function setStoreRecord(
  db: Db,
  { store, owner, generation, token }: StoreMark,
  home: string,
): Promise<void> {
  await db.updateTable("store_record").set({ store_id: store, owner, home, generation, token }).execute();
}

/** Returns the tables in an order in which each one follows the tables that it references. */
async function tablesByDependency(source: Db): Promise<string[]> {
  const tables = await run<{ name: string; parents: string[] }>(
    source,
    `select tablename as name, array(
      select parent.relname::text from pg_constraint
      join pg_class as parent on parent.oid = confrelid
      where contype = 'f' and conrelid = format('public.%I', tablename)::regclass and confrelid <> conrelid
    ) as parents
    from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1`,
  );
  const ordered: string[] = [];
  while (ordered.length < tables.length) {
    const next = tables.filter(
      ({ name, parents }) => !ordered.includes(name) && parents.every((parent) => ordered.includes(parent)),
    );
    if (next.length === 0) throw new Error("the foreign keys of the tables form a cycle");
    ordered.push(...next.map(({ name }) => name));
  }
  return ordered;
}

/** @returns the number of rows */
async function copyTable(source: Db, target: Tx, table: string): Promise<number> {
  const columns = await run<{ name: string; type: string; identity: boolean }>(
    target,
    `select attname as name, format_type(atttypid, atttypmod) as type, attidentity <> '' as identity
    from pg_attribute where attrelid = '"${table}"'::regclass and attnum > 0 and not attisdropped
      and attgenerated = '' order by attnum`,
  );
  const names = columns.map(({ name }) => `"${name}"`);
  const texts = names.map((name) => `${name}::text`);
  // Copies values as text, because their text form is exact and the same in both databases.
  const insert = `insert into "${table}" (${names.join(", ")}) overriding system value
    select ${columns.map(({ name, type }) => `"${name}"::${type}`).join(", ")}
    from unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(", ")}) as source (${names.join(", ")})`;
  const [size] = await run<{ pages: number }>(
    source,
    `select (pg_relation_size('public."${table}"') / 8192)::integer as pages`,
  );
  for (let page = 0; page < size!.pages; page += PAGES_AT_A_TIME) {
    const rows = await run<Record<string, string | null>>(
      source,
      `select ${texts.map((text, index) => `${text} as "${columns[index]!.name}"`).join(", ")} from public."${table}"
      where ctid >= '(${page},0)'::tid and ctid < '(${page + PAGES_AT_A_TIME},0)'::tid`,
    );
    if (rows.length === 0) continue;
    const values = columns.map(({ name }) => rows.map((row) => row[name]));
    await run(target, insert, values);
  }
  for (const { name } of columns.filter(({ identity }) => identity)) {
    await run(
      target,
      `select setval(pg_get_serial_sequence('"${table}"', '${name}'), max("${name}")) from "${table}"
      having max("${name}") is not null`,
    );
  }
  const [before, after] = [
    await summarize(source, `public."${table}"`, names),
    await summarize(target, `"${table}"`, names),
  ];
  if (before.rows !== after.rows || before.checksum !== after.checksum) {
    throw new Error(
      `The copy of the table ${table} differs from the original: ${before.rows} rows with the checksum ` +
        `${before.checksum}, copied ${after.rows} with ${after.checksum}.`,
    );
  }
  return after.rows;
}

/** Counts the rows, and sums 64 bits of the SHA-256 of each, so that their order does not matter. */
async function summarize(
  db: Db,
  table: string,
  columns: readonly string[],
): Promise<{ rows: number; checksum: string }> {
  const hash = `sha256(convert_to(row(${columns.join(", ")})::text, 'UTF8'))`;
  const [summary] = await run<{ rows: number; checksum: string }>(
    db,
    `select count(*)::integer as rows,
      coalesce(sum(('x' || encode(substring(${hash} for 8), 'hex'))::bit(64)::bigint), 0)::text as checksum
    from ${table}`,
  );
  return summary!;
}

async function run<Row>(db: Db, statement: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await db.executeQuery<Row>(CompiledQuery.raw(statement, [...values]))).rows;
}
