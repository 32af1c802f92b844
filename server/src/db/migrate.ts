import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { commandLine } from "../lib/command-line.ts";
import { AppError } from "../lib/errors.ts";
import { adoptInitialSchema, areEarlyMigrations } from "./early-tables.ts";
import { MIGRATIONS, readMigration } from "./migrations.ts";
import type { Schema } from "./schema.ts";

/** Suffix of migrations that remove tables or columns that earlier releases use. */
const REMOVAL = "-removal";

/**
 * Migrates the tables to this version. A lock serializes concurrent processes. Processes of the previous release may
 * still be running on the migrated tables, so migrations only add tables, optional columns and indexes. Unused tables
 * and columns are removed one release later, by a migration whose name ends in `-removal`.
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
  // Skips Kysely's check, which reads the whole catalog and takes a tenth of the startup time.
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
 * Throws if the tables are not up to date, for commands that must not migrate them.
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
    `The tables were created by an older version of Subtext. Start the service, or run \`${commandLine("migrate")}\`, to bring them up to date.`,
  );
}

/**
 * Migrates an existing installation, but does not create one.
 * @throws AppError `installation_missing`
 */
export async function migrateExisting(db: Kysely<Schema>): Promise<void> {
  if ((await appliedMigrations(db)).length === 0) throw noTables();
  await migrate(db);
}

function noTables(): AppError {
  return new AppError(
    "installation_missing",
    `There is no Subtext installation in this database. Check DATABASE_URL; \`${commandLine("serve")}\` creates one.`,
  );
}

export async function appliedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name collate "C"`.execute(db);
  return rows.map(({ name }) => name);
}

function tooNew(migration: string): AppError {
  return new AppError(
    "database_version_mismatch",
    `The database was migrated by a newer version of Subtext (${migration}), ` +
      "whose tables this version cannot use. Start that version again, or restore a backup from before the upgrade.",
  );
}
