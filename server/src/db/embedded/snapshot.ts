import { type BigIntStats, constants } from "node:fs";
import { copyFile, mkdir, opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { nullIfAbsent } from "../../lib/files.ts";
import type { SnapshotOptions } from "../database.ts";
import type { Mutex } from "./mutex.ts";

/** `postmaster.pid` marks the folder as in use by a process. */
const NOT_COPIED = new Set(["postmaster.pid"]);
/**
 * Coarsest resolution of modification times on common file systems. A second write within this time may not change the
 * modification time.
 */
const COARSEST_CLOCK_NS = 2_000_000_000n;

interface Copied {
  stats: BigIntStats;
  /** Whether a write after the copy may have left the modification time unchanged. */
  isFresh: boolean;
}

/**
 * Copies a consistent snapshot of the database. Most files are copied while the database is in use. Then all queries
 * wait while the files that have changed since are copied again.
 * @param to folder to create for the copy
 */
export async function snapshotDatabase(
  { pglite, mutex, folder }: { pglite: PGlite; mutex: Mutex; folder: string },
  to: string,
  { onSnapshot, signal }: SnapshotOptions,
): Promise<void> {
  await mutex.run(() => pglite.exec("checkpoint"));
  await mkdir(to, { mode: 0o700 });
  const copied = new Map<string, Copied>();
  for await (const path of walk(folder, to)) {
    signal.throwIfAborted();
    // A file that has disappeared in the meantime is not part of the snapshot.
    const stats = await stat(join(folder, path), { bigint: true }).catch(nullIfAbsent);
    if (!stats) continue;
    const isFresh = stats.mtimeNs > BigInt(Date.now()) * 1_000_000n - COARSEST_CLOCK_NS;
    if (await copy(join(folder, path), join(to, path))) copied.set(path, { stats, isFresh });
  }
  await mutex.run(async () => {
    signal.throwIfAborted();
    await pglite.exec("checkpoint");
    const gone = new Set(copied.keys());
    for await (const path of walk(folder, to)) {
      gone.delete(path);
      const before = copied.get(path);
      const now = await stat(join(folder, path), { bigint: true });
      if (before && !before.isFresh && isSame(before.stats, now)) continue;
      await copyFile(join(folder, path), join(to, path), constants.COPYFILE_FICLONE);
    }
    for (const path of gone) await rm(join(to, path));
    await onSnapshot(
      async <Row>(statement: string, values: readonly unknown[] = []) =>
        (await pglite.query<Row>(statement, [...values])).rows,
    );
  });
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** Returns false if the file no longer exists. */
async function copy(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    return nullIfAbsent(error) !== null;
  }
}

/** Yields the relative paths of all files. Creates the folders of the copy. */
async function* walk(folder: string, to: string, below = ""): AsyncGenerator<string> {
  for await (const entry of await opendir(join(folder, below))) {
    const path = join(below, entry.name);
    if (NOT_COPIED.has(path)) continue;
    if (entry.isDirectory()) {
      await mkdir(join(to, path), { recursive: true, mode: 0o700 });
      yield* walk(folder, to, path);
    } else yield path;
  }
}
