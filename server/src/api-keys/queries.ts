import { sql } from "kysely";
import type { ApiKeyState } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import type { ApiKeyRow, NewApiKey } from "../db/tables/environments.ts";

export async function insertApiKey(db: Db, row: NewApiKey): Promise<void> {
  await db.insertInto("api_key").values(row).execute();
}

export async function findApiKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  return await db.selectFrom("api_key").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Returns the keys in the order of the ids. */
export async function findApiKeys(db: Db, ids: readonly string[]): Promise<(ApiKeyRow | undefined)[]> {
  const rows = await db
    .selectFrom("api_key")
    .selectAll()
    .where("id", "in", [...new Set(ids)])
    .execute();
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => rowOf.get(id));
}

export async function listApiKeys(db: Db, environmentId: string): Promise<ApiKeyRow[]> {
  return await db
    .selectFrom("api_key")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .orderBy("created_at")
    .execute();
}

/**
 * Returns at most `limit` keys, newest first; `before` is an id.
 * @param state `valid` for keys that are neither revoked nor expired, `ended` for the others
 */
export async function pageOfApiKeys(
  db: Db,
  environmentId: string,
  { state, now, before, limit }: { state: ApiKeyState; now: Date; before: string | null; limit: number },
): Promise<ApiKeyRow[]> {
  return await db
    .selectFrom("api_key")
    .selectAll()
    .where("environment_id", "=", environmentId)
    .where((key) => {
      const isRevoked = key("revoked_at", "is not", null);
      // Treats a missing expiry as infinity, because a comparison with null is neither true nor false.
      const isExpired = key(key.fn.coalesce("expires_at", sql<Date>`'infinity'::timestamptz`), "<=", now);
      const hasEnded = key.or([isRevoked, isExpired]);
      return state === "ended" ? hasEnded : key.not(hasEnded);
    })
    .$if(before !== null, (query) => query.where("id", "<", before!))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Returns false if there is no such key. Revoking a key again keeps the original time. */
export async function revokeApiKey(db: Db, id: string, now: Date): Promise<boolean> {
  const row = await db
    .updateTable("api_key")
    .set((set) => ({ revoked_at: set.fn.coalesce("revoked_at", set.val(now)) }))
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Records the use of a key, unless a use after `recordedSince` is already recorded. */
export async function touchApiKey(
  db: Db,
  id: string,
  { now, recordedSince }: { now: Date; recordedSince: Date },
): Promise<void> {
  await db
    .updateTable("api_key")
    .set({ last_used_at: now })
    .where("id", "=", id)
    .where((where) =>
      where.or([where("last_used_at", "is", null), where("last_used_at", "<=", recordedSince)]),
    )
    .execute();
}
