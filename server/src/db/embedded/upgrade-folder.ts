import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { cp, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { Kysely, PGliteDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { AppError } from "../../lib/errors.ts";
import { sync } from "../../lib/files.ts";
import { lockFolder } from "../../lib/folder-lock.ts";
import { MIGRATIONS, readMigration } from "../migrations.ts";
import {
  dropTemplates,
  finishUpgrade,
  newFolderPrefix,
  removeTemporaryFolders,
  syncTree,
  upgradedFolder,
} from "./data-folder.ts";
import { olderPgliteFolder, openWithOlderPglite, upgradeAdvice } from "./older-pglite.ts";
import { POSTGRES_MAJOR, startPglite } from "./start-pglite.ts";

/** Number of 8 KB pages that are copied at a time. */
const PAGES_PER_BATCH = 1024;

export interface FolderUpgrade {
  fromMajor: string;
  toMajor: string;
  rows: number;
  /** The new path of the old folder. */
  oldFolder: string;
}

export interface UpgradeOptions {
  onLog(line: string): void;
}

/**
 * Upgrades a database folder from an older PostgreSQL major version: creates the tables with the same migrations,
 * copies their rows and swaps the folders. A crash leaves either the old folder or the complete new one in place. Queue
 * jobs are not copied, because the next start creates them again.
 *
 * @returns null if the folder already has the current major version
 * @throws AppError `data_folder_in_use`, `database_version_mismatch`
 */
export async function upgradeFolder(folder: string, options: UpgradeOptions): Promise<FolderUpgrade | null> {
  const lock = lockFolder(folder);
  try {
    await removeTemporaryFolders(folder);
    await finishUpgrade(folder);
    const fromMajor = await majorOf(folder);
    if (fromMajor === POSTGRES_MAJOR) return null;
    const oldFolder = `${folder}-${fromMajor}`;
    if (await stat(oldFolder).catch(() => null)) {
      throw new AppError(
        "database_version_mismatch",
        `The old folder must be moved to ${oldFolder}, which already exists. Move that folder away and try again.`,
      );
    }
    const parent = dirname(folder);
    const scratch = join(parent, `${newFolderPrefix(folder)}${randomBytes(6).toString("hex")}`);
    try {
      const copy = join(scratch, "old");
      const upgraded = join(scratch, "new");
      await mkdir(upgraded, { recursive: true, mode: 0o700 });
      await cp(folder, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
      await rm(join(copy, "postmaster.pid"), { force: true });
      const old = await openWithOlderPglite(copy, {
        installedIn: olderPgliteFolder(folder, fromMajor),
        advice: upgradeAdvice(folder, fromMajor, POSTGRES_MAJOR),
        isExpected: async (pglite) =>
          (await single<string | null>(pglite, "select to_regclass('public.kysely_migration')::text")) !==
          null,
      });
      let rows: number;
      try {
        rows = await rebuild(old, upgraded, options);
      } finally {
        await old.close();
      }
      await syncTree(upgraded);
      await rename(upgraded, upgradedFolder(folder));
      await sync(parent);
      await rename(folder, oldFolder);
      await rename(upgradedFolder(folder), folder);
      await sync(parent);
      return { fromMajor, toMajor: POSTGRES_MAJOR, rows, oldFolder };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function majorOf(folder: string): Promise<string> {
  const version = await readFile(join(folder, "PG_VERSION"), "utf8").catch(() => null);
  if (version !== null) return version.trim();
  throw new AppError("database_version_mismatch", `${folder} contains no database.`);
}

/** @returns the number of copied rows */
async function rebuild(old: PGlite, folder: string, { onLog }: UpgradeOptions): Promise<number> {
  // The copy is synced when it is complete.
  const upgraded = await startPglite(folder, { onLog, onCrash: () => {}, fsync: () => {} });
  try {
    await dropTemplates(upgraded);
    await createTables(old, upgraded);
    // Disables triggers and foreign keys, so that rows can be copied unchanged and in any order.
    await upgraded.exec("set session_replication_role = replica");
    let rows = 0;
    for (const table of await tablesOf(old)) rows += await copyTable(old, upgraded, table);
    for (const statement of ["set session_replication_role = origin", "vacuum analyze", "checkpoint"])
      await upgraded.exec(statement);
    return rows;
  } finally {
    await upgraded.close();
  }
}

/** Runs the migrations that the old database has. The next start applies newer ones. */
async function createTables(old: PGlite, upgraded: PGlite): Promise<void> {
  const { rows } = await old.query<{ name: string }>(
    'select name from public.kysely_migration order by name collate "C"',
  );
  if (rows.length === 0 || rows.some(({ name }, index) => name !== MIGRATIONS[index])) {
    throw new AppError(
      "database_version_mismatch",
      "The database was migrated by another version of Subtext; upgrade it with that version.",
    );
  }
  const kysely = new Kysely<unknown>({ dialect: new PGliteDialect({ pglite: upgraded }) });
  const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => ({}) } });
  // Creates Kysely's own tables. Their rows are copied like all others.
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
  for (const { name } of rows) await upgraded.exec(await readMigration(name));
}

async function tablesOf(pglite: PGlite): Promise<string[]> {
  const { rows } = await pglite.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  return rows.map(({ name }) => name);
}

async function copyTable(old: PGlite, upgraded: PGlite, name: string): Promise<number> {
  const table = `public."${name}"`;
  const { rows: columns } = await upgraded.query<{ name: string; identity: boolean }>(
    `select column_name as name, is_identity = 'YES' as identity from information_schema.columns
    where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [name],
  );
  const list = columns.map((column) => `"${column.name}"`).join(", ");
  // Removes rows that migrations inserted, such as the queue's clock.
  await upgraded.exec(`delete from ${table}`);
  const pages = await single<number>(old, `select (pg_relation_size('${table}') / 8192)::integer`);
  for (let page = 0; page < pages; page += PAGES_PER_BATCH) {
    const { blob } = await old.query(
      `copy (select ${list} from ${table} where ctid >= '(${page},0)'::tid and ctid < '(${page + PAGES_PER_BATCH},0)'::tid)
      to '/dev/blob'`,
    );
    if (blob && blob.size > 0) await upgraded.query(`copy ${table} (${list}) from '/dev/blob'`, [], { blob });
  }
  for (const { name: column } of columns.filter(({ identity }) => identity)) {
    await upgraded.exec(
      `select setval(pg_get_serial_sequence('${table}', '${column}'), max("${column}")) from ${table} having max("${column}") is not null`,
    );
  }
  const [before, after] = await Promise.all(
    [old, upgraded].map((pglite) => single<number>(pglite, `select count(*)::integer from ${table}`)),
  );
  if (before !== after) throw new Error(`${after} of ${before} rows of ${name} were copied`);
  return after!;
}

async function single<T>(pglite: PGlite, statement: string): Promise<T> {
  const { rows } = await pglite.query<Record<string, T>>(statement);
  return Object.values(rows[0]!)[0]!;
}
