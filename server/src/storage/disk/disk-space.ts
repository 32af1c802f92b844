import { statfs } from "node:fs/promises";
import { AppError } from "../../lib/errors.ts";

/**
 * Uploads must leave this much free space, because the embedded database may be on the same disk and stops if the disk
 * is full.
 */
export const RESERVED_BYTES = 1024 ** 3;
const RETRY_AFTER_SECONDS = 60;

/** @throws AppError `storage_full` if an upload of this size would use reserved space */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (!hasSpace(bavail * bsize, bytes)) throw storageFull();
}

export function hasSpace(freeBytes: number, bytes: number): boolean {
  return freeBytes >= bytes + RESERVED_BYTES;
}

export function storageFull(cause?: unknown): AppError {
  return new AppError("storage_full", "There is not enough free disk space.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** Checks whether an error or one of its causes reports a full disk or an exceeded quota. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || isDiskFull(error.cause);
}
