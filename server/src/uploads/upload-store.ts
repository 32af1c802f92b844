import type { DataStore } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { deleteOpenUpload } from "../videos/queries.ts";

export interface UploadStore extends DataStore {
  /** @throws AppError `storage_full` if an upload of this size would use reserved space */
  requireSpace(bytes: number): Promise<void>;
  /** Creates the file of an upload unless it exists. The upload's row must exist. */
  ensureFile(uploadId: string): Promise<void>;
}

/**
 * Deletes an incomplete upload; does nothing if it was accepted. The row is deleted first, so that after a crash its
 * tombstone makes the sweep remove the file.
 */
export async function deleteUpload(db: Db, recordings: RecordingStore, uploadId: string): Promise<void> {
  if (!(await deleteOpenUpload(db, uploadId))) return;
  try {
    await recordings.remove(uploadId);
  } catch (error) {
    // The sweep removes the file when an operator has accepted the store.
    if (!(error instanceof AppError) || error.code !== "storage_deletions_stopped") throw error;
  }
}

/**
 * Returns the start of an upload's expiry by this machine's clock, as the tus server expects. The database measures the
 * idle time, so a difference between the clocks does not matter.
 */
export function expiryStart(idleMs: number): string {
  return new Date(Date.now() - idleMs).toISOString();
}
