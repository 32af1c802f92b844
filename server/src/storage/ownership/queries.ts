import { sql } from "kysely";
import type { Db } from "../../db/schema.ts";
import type { StoreRecordRow } from "../../db/tables/stored-files.ts";

export interface NewStoreRecord {
  storeId: string;
  owner: string;
  home: string;
  generation: number;
  token: string;
}

/** Returns undefined if the database has no store yet. */
export async function readStoreRecord(db: Db): Promise<StoreRecordRow | undefined> {
  return await db.selectFrom("store_record").selectAll().executeTakeFirst();
}

/**
 * Inserts the record unless one exists.
 * @returns the existing or new record
 */
export async function insertStoreRecord(db: Db, record: NewStoreRecord): Promise<StoreRecordRow> {
  await db
    .insertInto("store_record")
    .values({
      store_id: record.storeId,
      owner: record.owner,
      home: record.home,
      generation: record.generation,
      token: record.token,
      advanced_at: sql<Date>`clock_timestamp()`,
    })
    .onConflict((conflict) => conflict.column("only").doNothing())
    .execute();
  return await db.selectFrom("store_record").selectAll().executeTakeFirstOrThrow();
}

/** @returns undefined if another process has advanced the record */
export async function advanceStoreRecord(
  db: Db,
  {
    from,
    to,
    token,
    storeId,
  }: { from: { generation: number; token: string }; to: number; token: string; storeId: string },
): Promise<StoreRecordRow | undefined> {
  return await db
    .updateTable("store_record")
    .set({ store_id: storeId, generation: to, token, advanced_at: sql<Date>`clock_timestamp()` })
    .where("generation", "=", from.generation)
    .where("token", "=", from.token)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteStoreRecord(db: Db): Promise<void> {
  await db.deleteFrom("store_record").execute();
}

/**
 * Restarts the expiry of all unfinished uploads. In a restored database, their activity times are from before the
 * backup.
 */
export async function restartUploadExpiry(db: Db): Promise<void> {
  await db
    .updateTable("video")
    .set({ upload_active_at: sql<Date>`clock_timestamp()` })
    .where("uploaded_at", "is", null)
    .execute();
}

/** A transaction that began before an advance may commit afterwards, with earlier timestamps. */
const OVERLAP = sql`interval '60 seconds'`;

/** Checks whether a video or transcription was written or deleted since the last advance. */
export async function changedSinceAdvance(db: Db): Promise<boolean> {
  const { rows } = await sql<{ changed: boolean }>`
    with since as (select advanced_at - ${OVERLAP} as at from store_record)
    select exists (select from since, tombstone where deleted_at > since.at)
      or exists (select from since, environment, lateral (
        (select id from video where environment_id = environment.id and changed_at > since.at limit 1)
        union all
        (select id from transcription where environment_id = environment.id and changed_at > since.at limit 1)
      ) as changed) as changed`.execute(db);
  return rows[0]!.changed;
}

/**
 * Identifies the location of the database. It differs for a restored dump and a template copy, but not for a file
 * system copy of the whole server or a promoted standby.
 */
export async function databaseHome(db: Db, kind: "embedded" | "postgres"): Promise<string> {
  if (kind === "embedded") return "embedded";
  const { rows } = await sql<{ oid: string }>`
    select oid::text as oid from pg_database where datname = current_database()`.execute(db);
  const oid = rows[0]!.oid;
  try {
    const found = await sql<{ id: string }>`
      select system_identifier::text as id from pg_control_system()`.execute(db);
    return `${found.rows[0]!.id}/${oid}`;
  } catch (error) {
    // Some hosting providers do not allow this function.
    if ((error as { code?: string }).code !== "42501") throw error;
    return `/${oid}`;
  }
}

/** Checks whether two homes are the same. An unknown server matches every server. */
export function isSameHome(a: string, b: string): boolean {
  const [[serverA, oidA], [serverB, oidB]] = [a.split("/"), b.split("/")];
  return oidA === oidB && (serverA === serverB || serverA === "" || serverB === "");
}
