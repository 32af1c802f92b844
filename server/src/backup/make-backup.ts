import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, open, readdir, realpath, rename, rm, stat, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { CompiledQuery, sql } from "kysely";
import type { Logger } from "pino";
import type { Database, SnapshotQuery } from "../db/database.ts";
import { POSTGRES_MAJOR } from "../db/embedded/start-pglite.ts";
import type { Schema } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isWithin, sizeOf, sync, tryLink, walk } from "../lib/files.ts";
import { isDiskFull } from "../storage/disk/disk-space.ts";
import { MARK_FILE } from "../storage/ownership/store-mark.ts";
import { DATA_FOLDER, formatSum, hashFile, type Manifest, SUMS_FILE, writeManifest } from "./manifest.ts";
import { copyIfPresent, preserveFiles } from "./preserve-files.ts";
import { listChangedVideoFiles, listOpenRecordings, listVideoFiles } from "./video-files.ts";

export interface BackupDeps {
  database: Database<Schema>;
  dataFolder: string;
  /** Whether recordings and transcripts are in a bucket. */
  hasBucket: boolean;
  clock: Clock;
  log: Logger;
  version: string;
}

export type BackupPhase = "collecting" | "copying" | "checking";

export interface BackupProgress {
  phase: BackupPhase;
  doneBytes: number;
  /** Null until known. */
  totalBytes: number | null;
}

/** Suffix of an unfinished backup, next to the target. */
export const UNFINISHED = ".unfinished";
/** Folder of hard links to the files that are being copied to another disk. */
export const STAGING_FOLDER = "backup.unfinished";

/**
 * Writes a backup of the data folder while the service runs:
 * 1. Every file that a row references gets a hard link, so that a later deletion does not remove it.
 * 2. The database is copied. During its snapshot, files that were added since step 1 get hard links too.
 * 3. Unfinished uploads are copied. They only grow, so this can wait until the snapshot no longer blocks queries.
 *
 * Rows reference files only while the files exist, so the backup contains every file that the snapshot references. It
 * is written next to the target and renamed when it is complete, durable and verified.
 * @param target absolute path of a folder that is empty or does not exist
 * @throws AppError `backup_not_possible`, `backup_target_refused`, `storage_full`, `storage_unavailable`
 */
export async function makeBackup(
  deps: BackupDeps,
  target: string,
  { onProgress, signal }: { onProgress(progress: BackupProgress): void; signal: AbortSignal },
): Promise<Manifest> {
  if (deps.database.snapshot === null) {
    throw new AppError(
      "backup_not_possible",
      "The database is a PostgreSQL server: back it up with pg_dump, then back up the files; see docs/backup.md.",
    );
  }
  const staging = join(deps.dataFolder, STAGING_FOLDER);
  const unfinished = target + UNFINISHED;
  await checkTarget(target, deps.dataFolder);
  try {
    for (const leftover of [staging, unfinished]) await rm(leftover, { recursive: true, force: true });
    await mkdir(join(unfinished, DATA_FOLDER), { recursive: true, mode: 0o700 });
    const manifest = await write(deps, deps.database.snapshot, { unfinished, staging, onProgress, signal });
    signal.throwIfAborted();
    await writeManifest(unfinished, manifest);
    await syncFileSystem(unfinished);
    await rename(unfinished, target);
    await sync(dirname(target));
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw explain(error, target, signal);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function write(
  deps: BackupDeps,
  snapshot: NonNullable<Database<Schema>["snapshot"]>,
  {
    unfinished,
    staging,
    onProgress,
    signal,
  }: {
    unfinished: string;
    staging: string;
    onProgress(progress: BackupProgress): void;
    signal: AbortSignal;
  },
): Promise<Manifest> {
  const { dataFolder, hasBucket, clock, version } = deps;
  const data = join(unfinished, DATA_FOLDER);
  const canLink = await supportsLinks(dataFolder, unfinished);
  const preserved = canLink ? data : staging;
  onProgress({ phase: "collecting", doneBytes: 0, totalBytes: null });
  for (const folder of ["uploads", "files"]) {
    await mkdir(join(preserved, folder), { recursive: true, mode: 0o700 });
    await mkdir(join(data, folder), { recursive: true, mode: 0o700 });
  }

  const query = createQuery(deps.database);
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(deps.database.kysely);
  const missing: string[] = [];
  if (!hasBucket) {
    for await (const named of listVideoFiles(query)) {
      signal.throwIfAborted();
      if (!(await preserveFiles(dataFolder, preserved, named))) missing.push(named.videoId);
    }
  }
  let missingCount = 0;
  let migrations: string[] = [];
  let openRecordings: string[] = [];
  await snapshot(join(data, "database"), {
    signal,
    async onSnapshot(queryNow) {
      migrations = (await queryNow<{ name: string }>("select name from kysely_migration order by name")).map(
        ({ name }) => name,
      );
      if (hasBucket) return;
      for (const named of await listChangedVideoFiles(queryNow, rows[0]!.now, missing))
        if (!(await preserveFiles(dataFolder, preserved, named))) missingCount += 1;
      openRecordings = await listOpenRecordings(queryNow);
      for (const name of ["installation", MARK_FILE]) await copyIfPresent(dataFolder, data, name);
    },
  });

  if (!canLink) await copyStaged(staging, data, { onProgress, signal });
  for (const recording of openRecordings) {
    signal.throwIfAborted();
    await copyIfPresent(dataFolder, data, recording);
  }
  const sums = await writeSums(unfinished, { onProgress, signal });
  return {
    format: "subtext backup 1",
    version,
    madeAt: clock.now().toISOString(),
    postgresMajor: POSTGRES_MAJOR,
    migrations,
    files: hasBucket ? "bucket" : "here",
    missingCount,
    ...sums,
  };
}

async function checkTarget(target: string, dataFolder: string): Promise<void> {
  const refusal = (reason: string) => new AppError("backup_target_refused", reason);
  const parent = await stat(dirname(target)).catch(() => null);
  if (!parent?.isDirectory()) throw refusal(`There is no folder ${dirname(target)}.`);
  // A parent, or the target itself, may be a symbolic link into the data folder.
  const resolved = await realpath(target).catch(async () =>
    join(await realpath(dirname(target)), basename(target)),
  );
  if (isWithin(resolved, await realpath(dataFolder))) {
    throw refusal(`${target} is inside the data folder. Choose another folder, preferably on another disk.`);
  }
  const entries = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw refusal(`${target} cannot be used: ${error.message}`);
  });
  if (entries.length > 0) throw refusal(`${target} is not empty. Each backup needs its own folder.`);
}

async function supportsLinks(from: string, to: string): Promise<boolean> {
  const [source, target] = [join(from, `${STAGING_FOLDER}.probe`), join(to, "probe")];
  await (await open(source, "w", 0o600)).close();
  try {
    return await tryLink(source, target);
  } finally {
    for (const probe of [source, target]) await rm(probe, { force: true });
  }
}

function createQuery({ kysely }: Database<Schema>): SnapshotQuery {
  return async <Row>(statement: string, values: readonly unknown[] = []) =>
    (await kysely.executeQuery<Row>(CompiledQuery.raw(statement, [...values]))).rows;
}

interface ProgressOptions {
  onProgress(progress: BackupProgress): void;
  signal: AbortSignal;
}

/** @throws AppError `storage_full` if there is not enough space */
async function copyStaged(from: string, to: string, { onProgress, signal }: ProgressOptions): Promise<void> {
  const totalBytes = await sizeOf(from);
  const { bavail, bsize } = await statfs(to);
  if (bavail * bsize < totalBytes) {
    throw new AppError(
      "storage_full",
      `The backup needs ${inGiB(totalBytes)} more, and ${to} has ${inGiB(bavail * bsize)} free.`,
    );
  }
  let doneBytes = 0;
  for await (const path of walk(from)) {
    signal.throwIfAborted();
    await mkdir(dirname(join(to, path)), { recursive: true, mode: 0o700 });
    doneBytes += await copyChecked(join(from, path), join(to, path), (bytes) => {
      signal.throwIfAborted();
      onProgress({ phase: "copying", doneBytes: doneBytes + bytes, totalBytes });
    });
  }
}

/** Copies a file and verifies the copy. @returns its size in bytes */
async function copyChecked(from: string, to: string, onBytes: (bytes: number) => void): Promise<number> {
  const hash = createHash("sha256");
  const input = await open(from, "r");
  let bytes = 0;
  try {
    const output = await open(to, "wx", 0o600);
    try {
      for await (const chunk of input.createReadStream({ highWaterMark: 1024 ** 2, autoClose: false })) {
        hash.update(chunk);
        await output.writeFile(chunk);
        bytes += chunk.length;
        onBytes(bytes);
      }
    } finally {
      await output.close();
    }
  } finally {
    await input.close();
  }
  if ((await hashFile(to)) !== hash.digest("hex"))
    throw new AppError(
      "storage_unavailable",
      `${to} differs from what was written to it: the disk may be faulty.`,
    );
  return bytes;
}

/** Reads every file back and writes its checksum to the list. */
async function writeSums(
  unfinished: string,
  { onProgress, signal }: ProgressOptions,
): Promise<Pick<Manifest, "fileCount" | "bytes" | "sumsHash">> {
  const data = join(unfinished, DATA_FOLDER);
  const totalBytes = await sizeOf(data);
  const list = await open(join(unfinished, SUMS_FILE), "wx", 0o600);
  let fileCount = 0;
  let bytes = 0;
  try {
    for await (const path of walk(data)) {
      const hash = await hashFile(join(data, path), (count) => {
        signal.throwIfAborted();
        bytes += count;
        onProgress({ phase: "checking", doneBytes: bytes, totalBytes });
      });
      fileCount += 1;
      await list.writeFile(formatSum({ hash, path: `${DATA_FOLDER}/${path}` }));
    }
  } finally {
    await list.close();
  }
  return { fileCount, bytes, sumsHash: await hashFile(join(unfinished, SUMS_FILE)) };
}

/** Syncs the whole file system, because an fsync of each file would take an hour for a few hundred thousand files. */
export async function syncFileSystem(folder: string): Promise<void> {
  const run = promisify(execFile);
  // Only Linux can sync a single file system.
  await run("sync", ["-f", folder]).catch(() => run("sync"));
}

function explain(error: unknown, target: string, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof AppError) return error;
  if (isDiskFull(error)) {
    return new AppError("storage_full", `There is no space left for the backup ${target}.`, {
      cause: error,
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError("storage_unavailable", `The backup could not be written: ${reason}`, { cause: error });
}

function inGiB(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
