import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS } from "./migrations.ts";
import type { Schema } from "./schema.ts";

/**
 * Brings the tables up to date; several processes at once wait for each other under a lock. While processes of
 * the version before are still running, or are started again, the tables may be newer than they know: so a
 * migration only ever adds (tables, columns that may be left out, indexes), and what nothing uses any more goes
 * one release later.
 */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  if (await isNewer(db)) return;
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** Whether all migrations that this version knows were made, and others that it does not know. */
async function isNewer(db: Kysely<Schema>): Promise<boolean> {
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!found[0]?.there) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const made = new Set(rows.map(({ name }) => name));
  const known = Object.keys(MIGRATIONS);
  return known.every((name) => made.has(name)) && made.size > known.length;
}
