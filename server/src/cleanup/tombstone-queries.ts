import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

const BATCH = 5_000;

/** Returns the ids that belong to deleted videos or transcriptions. */
export async function findTombstones(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom("tombstone").select("id").where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}

export async function expireTombstones(db: Db, before: Date, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { numAffectedRows = 0n } = await sql`
      delete from tombstone where id = any (array(
        select id from tombstone where deleted_at < ${before} order by deleted_at limit ${sql.lit(BATCH)}
      ))`.execute(db);
    if (numAffectedRows < BATCH) return;
  }
}
