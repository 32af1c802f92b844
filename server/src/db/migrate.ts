import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { AppError } from "../lib/errors.ts";
import { adoptInitialSchema, areEarlyMigrations } from "./early-tables.ts";
import { MIGRATIONS, readMigration } from "./migrations.ts";
import type { Schema } from "./schema.ts";

/** Suffix of migrations that remove what earlier releases use. */
const REMOVAL = "-removal";

/**
 * Brings the tables up to date. Concurrent processes wait for each other under a lock. While processes of the previous
 * release are running, or are started again, the tables may be newer than they expect. Migrations therefore only add
 * (tables, optional columns, indexes); unused columns and tables are removed one release later, by a migration whose
 * name ends in `-removal`.
 *
 * @throws AppError `database_version_mismatch` if this version cannot work with the existing tables
 */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  let applied = await appliedMigrations(db);
  if (areEarlyMigrations(applied)) {
    await adoptInitialSchema(db);
    applied = await appliedMigrations(db);
  }
  const unknown = applied.filter((name) => !MIGRATIONS.includes(name));
  if (unknown.length > 0) {
    const blocking =
      unknown.find((name) => name.endsWith(REMOVAL)) ?? MIGRATIONS.find((name) => !applied.includes(name));
    if (blocking !== undefined) throw tooNew(unknown.at(-1)!);
    return;
  }
  // Kysely would read the whole catalog to find that nothing is missing, which takes a tenth of the startup time.
  if (applied.length === MIGRATIONS.length) return;
  const migrator = new Migrator({ db, provider: { getMigrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

async function getMigrations(): Promise<Record<string, Migration>> {
  const up = (name: string) => async (db: Kysely<unknown>) => {
    await sql.raw(await readMigration(name)).execute(db);
  };
  return Object.fromEntries(MIGRATIONS.map((name) => [name, { up: up(name) }]));
}

/**
 * Refuses tables that are not up to date, for commands that do not change tables.
 * @throws AppError `installation_missing`, `database_version_mismatch`
 */
export async function requireTables(db: Kysely<Schema>): Promise<void> {
  const applied = await appliedMigrations(db);
  if (applied.length === 0) throw noTables();
  const isUnknown = (name: string) => !MIGRATIONS.includes(name);
  const isReady = applied.some(isUnknown) || MIGRATIONS.every((name) => applied.includes(name));
  if (!areEarlyMigrations(applied) && isReady) return await migrate(db);
  throw new AppError(
    "database_version_mismatch",
    "The tables were created by an older version of Subtext. Start the service, or run `npx subtext migrate`, to bring them up to date.",
  );
}

/** Brings existing tables up to date but creates no installation. @throws AppError `installation_missing` */
export async function migrateExisting(db: Kysely<Schema>): Promise<void> {
  if ((await appliedMigrations(db)).length === 0) throw noTables();
  await migrate(db);
}

function noTables(): AppError {
  return new AppError(
    "installation_missing",
    "There is no Subtext installation in this database. Check DATABASE_URL; `npx subtext serve` creates one.",
  );
}

/** The names of the applied migrations, in order. */
export async function appliedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!found[0]?.there) return [];
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name collate "C"`.execute(db);
  return rows.map(({ name }) => name);
}

function tooNew(migration: string): AppError {
  return new AppError(
    "database_version_mismatch",
    `The database was brought up to date by a newer version of Subtext (${migration}), ` +
      "whose tables this version cannot use. Start that version again, or restore a backup from before the upgrade.",
  );
}
