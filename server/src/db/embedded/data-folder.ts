import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { commandLine } from "../../lib/command-line.ts";
import { AppError } from "../../lib/errors.ts";
import { sync } from "../../lib/files.ts";
import { upgradeAdvice } from "./older-pglite.ts";
import { POSTGRES_MAJOR, startPglite } from "./start-pglite.ts";

/**
 * Ensures that the folder contains a complete database of this PostgreSQL version. A new database is created in a
 * temporary folder, made durable and renamed, so a crash never leaves a partial one. The caller must hold the folder's
 * lock.
 *
 * @throws AppError `database_version_mismatch`
 */
export async function prepareDataFolder(folder: string, onLog: (line: string) => void): Promise<void> {
  await removeTemporaryFolders(folder);
  await finishUpgrade(folder);
  const entries = await readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (entries.length === 0) {
    await create(folder, onLog);
    return;
  }
  const version = await readFile(join(folder, "PG_VERSION"), "utf8").catch(() => null);
  if (version === null) {
    throw new AppError(
      "database_version_mismatch",
      `${folder} contains files but no database. Choose an empty folder, or one that Subtext created.`,
    );
  }
  if (version.trim() !== POSTGRES_MAJOR) {
    throw new AppError("database_version_mismatch", upgradeAdvice(folder, version.trim(), POSTGRES_MAJOR));
  }
  await chmod(folder, 0o700);
}

/** @throws AppError `installation_missing` if there is neither a database nor a half-finished upgrade */
export async function requireEmbeddedDatabase(folder: string): Promise<void> {
  if (existsSync(join(folder, "PG_VERSION")) || existsSync(upgradedFolder(folder))) return;
  throw new AppError(
    "installation_missing",
    `There is no Subtext installation in ${dirname(folder)}. Check DATA_DIR; \`${commandLine("serve")}\` creates one.`,
  );
}

/** Returns the prefix of temporary folders, which can be deleted after a crash. */
export const newFolderPrefix = (folder: string) => `${basename(folder)}.new-`;

/** Returns the folder that contains the complete upgraded database until it replaces the old one. */
export const upgradedFolder = (folder: string) => `${folder}.carried`;

/** Completes an upgrade that crashed between the two renames. */
export async function finishUpgrade(folder: string): Promise<void> {
  const upgraded = upgradedFolder(folder);
  if (!existsSync(upgraded)) return;
  if (existsSync(folder)) await rm(upgraded, { recursive: true });
  else await rename(upgraded, folder);
  await sync(dirname(folder));
}

export async function removeTemporaryFolders(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (name.startsWith(newFolderPrefix(folder))) await rm(join(parent, name), { recursive: true });
  }
}

async function create(folder: string, onLog: (line: string) => void): Promise<void> {
  const parent = dirname(folder);
  const temporary = join(parent, newFolderPrefix(folder) + randomBytes(6).toString("hex"));
  await mkdir(temporary, { mode: 0o700 });
  // The folder is synced once, when the database is complete.
  const pglite = await startPglite(temporary, { onLog, onCrash: () => {}, fsync: () => {} });
  await dropTemplates(pglite);
  await pglite.close();
  await syncTree(temporary);
  await rename(temporary, folder);
  await sync(parent);
}

/**
 * Deletes the template databases. They contain two thirds of all files, and after a crash, PostgreSQL syncs every file
 * before it starts. Nothing connects to the templates, so they would also never be vacuumed.
 */
export async function dropTemplates(pglite: PGlite): Promise<void> {
  await pglite.exec("update pg_database set datistemplate = false where datname <> current_database()");
  for (const name of ["template0", "template1"]) await pglite.exec(`drop database ${name}`);
}

export async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  for (const { name } of folders) await syncTree(join(folder, name));
  // A folder contains at most a few hundred files, well below the limit on open files.
  const files = entries.filter((entry) => !entry.isDirectory());
  await Promise.all(files.map(({ name }) => sync(join(folder, name))));
  await sync(folder);
}
