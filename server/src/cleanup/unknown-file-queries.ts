import { sql } from "kysely";
import type { Db, Schema } from "../db/schema.ts";

export interface UnknownFile {
  key: string;
  store: Schema["unknown_file"]["store"];
  bytes: number;
}

/**
 * If no sweep has seen a file for this long, its waiting time starts again, because the machine was off or its clock
 * was wrong.
 */
const MAX_GAP_HOURS = 72;

export async function recordedUnknownFiles(db: Db, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db.selectFrom("unknown_file").select("key").where("key", "in", keys).execute();
  return new Set(rows.map(({ key }) => key));
}

export async function insertUnknownFiles(db: Db, files: UnknownFile[], now: Date): Promise<void> {
  if (files.length === 0) return;
  await db
    .insertInto("unknown_file")
    .values(files.map((file) => ({ ...file, first_seen_at: now, last_seen_at: now })))
    .onConflict((conflict) => conflict.column("key").doNothing())
    .execute();
}

/**
 * Records that files are still stored and still unknown.
 * @returns the keys that have been unknown since before `expiredBefore`
 */
export async function touchUnknownFiles(
  db: Db,
  keys: string[],
  { now, expiredBefore }: { now: Date; expiredBefore: Date },
): Promise<string[]> {
  if (keys.length === 0) return [];
  const rows = await db
    .updateTable("unknown_file")
    .set({
      last_seen_at: now,
      first_seen_at: sql<Date>`case
        when last_seen_at < ${now}::timestamptz - ${sql.lit(MAX_GAP_HOURS)} * interval '1 hour' then ${now}::timestamptz
        else first_seen_at end`,
    })
    .where("key", "in", keys)
    .returning(["key", "first_seen_at"])
    .execute();
  return rows.filter((row) => row.first_seen_at <= expiredBefore).map(({ key }) => key);
}

export async function deleteUnknownFileRecord(db: Db, key: string): Promise<void> {
  await db.deleteFrom("unknown_file").where("key", "=", key).execute();
}

/** Deletes the records of files that the latest sweep has not seen, because they are deleted or no longer unknown. */
export async function deleteUnseenFileRecords(db: Db, before: Date): Promise<void> {
  await db.deleteFrom("unknown_file").where("last_seen_at", "<", before).execute();
}

/** Restarts the time after which unknown files are deleted. */
export async function restartUnknownFiles(db: Db, now: Date): Promise<void> {
  await db.updateTable("unknown_file").set({ first_seen_at: now }).execute();
}

export interface UnknownFileSummary {
  files: number;
  bytes: number;
  /** When the oldest file was first seen; null if there is none. */
  oldestSeenAt: Date | null;
  /** Keys of the oldest files. */
  examples: string[];
}

export async function summarizeUnknownFiles(db: Db): Promise<UnknownFileSummary> {
  const sums = await db
    .selectFrom("unknown_file")
    .select((query) => [
      query.fn.countAll<number>().as("files"),
      sql<number>`coalesce(sum(bytes), 0)::bigint`.as("bytes"),
      query.fn.min<Date | null>("first_seen_at").as("oldest"),
    ])
    .executeTakeFirstOrThrow();
  const examples = await db
    .selectFrom("unknown_file")
    .select("key")
    .orderBy("first_seen_at")
    .orderBy("key")
    .limit(3)
    .execute();
  return {
    files: Number(sums.files),
    bytes: Number(sums.bytes),
    oldestSeenAt: sums.oldest,
    examples: examples.map(({ key }) => key),
  };
}
