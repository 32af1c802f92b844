import type { Clock } from "../lib/clock.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import { listStoredFiles, type StoredFile, type StoredFilesDeps } from "./stored-files.ts";
import { expireTombstones } from "./tombstone-queries.ts";
import {
  deleteUnknownFileRecord,
  deleteUnseenFileRecords,
  insertUnknownFiles,
  recordedUnknownFiles,
  touchUnknownFiles,
  type UnknownFile,
} from "./unknown-file-queries.ts";

export interface StoredFilesSweepDeps extends StoredFilesDeps, ItemDeps {
  ownership: Pick<StoreOwnership, "state">;
  clock: Clock;
}

const DAY_MS = 86_400_000;
/** A file that has neither a row nor a tombstone is deleted after this time. */
export const UNKNOWN_FILE_RETENTION_MS = 7 * DAY_MS;
/** After this time, the files of a deleted video can only come from a backup. They then count as unknown. */
const TOMBSTONE_RETENTION_MS = 30 * DAY_MS;
const MAX_LOGGED_KEYS = 5;

/**
 * Checks every stored file. Obsolete files are removed immediately. Unknown files are recorded, and removed only after
 * `UNKNOWN_FILE_RETENTION_MS`, because the database may be an older copy that will be replaced. Nothing is removed if this
 * database does not own the store.
 */
export async function sweepStoredFiles(deps: StoredFilesSweepDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log, ownership } = deps;
  const { isOwner } = await ownership.state();
  const startedAt = clock.now();
  let failures = 0;
  for await (const files of listStoredFiles(deps)) {
    if (signal.aborted) return;
    for (const file of files.filter(({ state }) => isOwner && state === "obsolete")) {
      if (await remove(deps, file, "an obsolete file was removed")) continue;
      failures += 1;
    }
    const unknown = files.filter(({ state }) => state === "unknown");
    const expired = new Set(await recordUnknown(deps, unknown, startedAt));
    for (const file of unknown.filter(({ key }) => isOwner && expired.has(key))) {
      if (await remove(deps, file, "a file that was unknown for 7 days was removed"))
        await deleteUnknownFileRecord(db, file.key);
    }
  }
  if (signal.aborted) return;
  await deleteUnseenFileRecords(db, startedAt);
  if (!isOwner) return;
  if (failures > 0) {
    log.error({ failures }, "could not remove obsolete files; the next sweep will try again");
    return;
  }
  // All obsolete files were removed, so old tombstones are no longer needed.
  await expireTombstones(db, new Date(startedAt.getTime() - TOMBSTONE_RETENTION_MS), signal);
}

/** Logs a failure and returns false, so that the sweep continues with other files. */
async function remove(
  deps: StoredFilesSweepDeps,
  { key, remove: removeFile }: StoredFile,
  message: string,
): Promise<boolean> {
  const removed = await guardItem(deps, { task: "stored_files", key }, async () => {
    await removeFile();
    deps.log.info({ key }, message);
    return true;
  });
  return removed ?? false;
}

/** @returns the keys of files that have been unknown for `UNKNOWN_FILE_RETENTION_MS` */
async function recordUnknown(
  deps: StoredFilesSweepDeps,
  unknown: StoredFile[],
  now: Date,
): Promise<string[]> {
  const { db, log } = deps;
  const recorded = await recordedUnknownFiles(
    db,
    unknown.map(({ key }) => key),
  );
  const found: UnknownFile[] = [];
  for (const { key, store, sizeBytes } of unknown) {
    if (recorded.has(key)) continue;
    const bytes = await guardItem(deps, { task: "stored_files", key }, sizeBytes);
    if (bytes !== undefined) found.push({ key, store, bytes });
  }
  if (found.length > 0) {
    await insertUnknownFiles(db, found, now);
    const examples = found.slice(0, MAX_LOGGED_KEYS).map(({ key }) => key);
    log.warn(
      { files: found.length, examples },
      "found stored files that the database has no record of; they are kept for 7 days",
    );
  }
  const expiredBefore = new Date(now.getTime() - UNKNOWN_FILE_RETENTION_MS);
  return await touchUnknownFiles(db, [...recorded], { now, expiredBefore });
}
