import { constants, existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { areEarlyMigrations } from "../db/early-tables.ts";
import { openEmbedded } from "../db/embedded/embedded.ts";
import { POSTGRES_MAJOR } from "../db/embedded/start-pglite.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import type { Schema } from "../db/schema.ts";
import { commandLine } from "../lib/command-line.ts";
import { AppError } from "../lib/errors.ts";
import { makeFolder } from "../lib/files.ts";
import { lockFolder } from "../lib/folder-lock.ts";
import { isDiskFull } from "../storage/disk/disk-space.ts";
import { deleteStoreRecord } from "../storage/ownership/queries.ts";
import { syncFileSystem } from "./make-backup.ts";
import { DATA_FOLDER, hashFile, type Manifest, readManifest, readSums } from "./manifest.ts";

/**
 * Moved in this order, because the service refuses to start on files without their database. The store's mark is not
 * restored, because the restored files are a new store.
 */
const PARTS = ["uploads", "files", "installation", "database"];
const UNFINISHED = "restore.unfinished";
/** Entries that the target may already contain. Backups do not contain them. A new disk contains `lost+found`. */
const ALLOWED_ENTRIES = new Set(["models", "scratch", "service.lock", "database.lock", "lost+found"]);

export interface RestoreProgress {
  doneBytes: number;
  totalBytes: number;
}

/**
 * Restores a data folder from a backup and verifies every file's checksum. After an interruption, no service starts on
 * the folder, and the restore can be repeated.
 * @param dataFolder nonexistent, or empty except for downloaded models and other `ALLOWED_ENTRIES`
 * @throws Error with a readable message
 */
export async function restoreBackup(
  backup: string,
  dataFolder: string,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Manifest> {
  const manifest = await readManifest(backup);
  requireCompatible(manifest);
  await makeFolder(dataFolder);
  const entries = await readdir(dataFolder);
  const wasInterrupted = entries.includes(UNFINISHED);
  const conflicts = entries.filter((name) => name !== UNFINISHED && !ALLOWED_ENTRIES.has(name));
  if (conflicts.length > 0 && !wasInterrupted) {
    throw new Error(
      `${dataFolder} is not empty: it contains ${conflicts[0]}. Set DATA_DIR to an empty folder.`,
    );
  }
  const locks = ["service", "database"].map((name) => lockFolder(join(dataFolder, name)));
  try {
    const unfinished = join(dataFolder, UNFINISHED);
    for (const leftover of [UNFINISHED, ...(wasInterrupted ? PARTS : [])])
      await rm(join(dataFolder, leftover), { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await copyAll(backup, unfinished, { totalBytes: manifest.bytes, onProgress });
    await clearStoreOwnership(join(unfinished, "database"));
    await syncFileSystem(unfinished);
    for (const part of PARTS) await moveIfPresent(join(unfinished, part), join(dataFolder, part));
    await rm(unfinished, { recursive: true });
    await syncFileSystem(dataFolder);
    return manifest;
  } catch (error) {
    if (isDiskFull(error)) throw new Error(`There is no space left in ${dataFolder}.`, { cause: error });
    throw error;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/**
 * Without this check, the service would create an installation beside the files of the interrupted restore, and the
 * next restore would delete it.
 * @throws AppError `data_folder_mismatch`
 */
export function assertRestored(dataFolder: string): void {
  if (!existsSync(join(dataFolder, UNFINISHED))) return;
  throw new AppError(
    "data_folder_mismatch",
    `The restore to ${dataFolder} was interrupted. Run \`${commandLine("restore")}\` again.`,
  );
}

/**
 * @throws Error if the backup needs another version of Subtext; AppError `database_version_mismatch` if its tables are
 *   from a version that is too old to upgrade
 */
function requireCompatible({ postgresMajor, migrations, version }: Manifest): void {
  const unknown = areEarlyMigrations(migrations)
    ? undefined
    : migrations.find((name) => !MIGRATIONS.includes(name));
  if (unknown === undefined && postgresMajor === POSTGRES_MAJOR) return;
  const reason =
    unknown === undefined
      ? `its database is PostgreSQL ${postgresMajor}, but this release includes ${POSTGRES_MAJOR}`
      : `its tables were created by a newer version (${unknown})`;
  throw new Error(`The backup was made by Subtext ${version}: ${reason}. Restore it with that version.`);
}

async function copyAll(
  backup: string,
  to: string,
  { totalBytes, onProgress }: { totalBytes: number; onProgress(progress: RestoreProgress): void },
): Promise<void> {
  let doneBytes = 0;
  for await (const { hash, path } of readSums(backup)) {
    const target = join(to, path.slice(DATA_FOLDER.length + 1));
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await copyFile(join(backup, path), target, constants.COPYFILE_FICLONE).catch((error) => {
      if (error.code !== "ENOENT") throw error;
      throw new Error(`The backup is damaged: ${path} is missing.`, { cause: error });
    });
    await chmod(target, 0o600);
    if ((await hashFile(target)) !== hash) {
      throw new Error(`The backup is damaged: the checksum of ${path} does not match.`);
    }
    doneBytes += (await stat(target)).size;
    onProgress({ doneBytes, totalBytes });
  }
  await makeEmptyFolders(join(backup, DATA_FOLDER, "database"), join(to, "database"));
}

/** Makes sure that the restored database deletes nothing from a bucket that still belongs to the original database. */
async function clearStoreOwnership(folder: string): Promise<void> {
  const database = await openEmbedded<Schema>({ folder, log: pino({ level: "silent" }) });
  try {
    await deleteStoreRecord(database.kysely);
  } finally {
    await database.close();
  }
}

/** PostgreSQL does not start if one of its folders is missing, even an empty one. */
async function makeEmptyFolders(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    await mkdir(join(to, entry.name), { recursive: true, mode: 0o700 });
    await makeEmptyFolders(join(from, entry.name), join(to, entry.name));
  }
}

async function moveIfPresent(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
}
