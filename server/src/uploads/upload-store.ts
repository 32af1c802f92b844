import type { DataStore } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { deleteOpenUpload } from "../videos/queries.ts";

/** The tus server's data store, extended with the methods that Subtext needs. */
export interface UploadStore extends DataStore {
  /** @throws AppError `storage_full` if this many more bytes would leave too little free space */
  requireSpace(bytes: number): Promise<void>;
  /** Creates the file of an upload whose row exists, unless the file exists. */
  ensureFile(uploadId: string): Promise<void>;
}

/** Deletes an incomplete upload, the row first, so that a crash in between leaves a tombstone for the sweep. */
export async function deleteUpload(db: Db, recordings: RecordingStore, uploadId: string): Promise<void> {
  await deleteOpenUpload(db, uploadId);
  try {
    await recordings.remove(uploadId);
  } catch (error) {
    // The sweep removes it once the store is accepted.
    if (!(error instanceof AppError) || error.code !== "storage_deletions_stopped") throw error;
  }
}

/**
 * Returns the time from which the tus server counts the expiry, by the clock of this machine, which the tus server
 * uses. The idle time comes from the database, so a difference between the clocks does not matter.
 */
export function expiryStart(idleMs: number): string {
  return new Date(Date.now() - idleMs).toISOString();
}
