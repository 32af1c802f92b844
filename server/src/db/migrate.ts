import type { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { MIGRATIONS } from "./migrations.ts";
import type { Schema } from "./schema.ts";

/** Brings the tables up to date; several processes at once wait for each other under a lock. */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
