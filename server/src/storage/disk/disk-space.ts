import { statfs } from "node:fs/promises";
import { AppError } from "../../lib/errors.ts";

/** Free space that uploads must leave. The embedded database may be on the same disk, and stops if the disk is full. */
export const RESERVED_BYTES = 1024 ** 3;
const RETRY_AFTER_SECONDS = 60;

/** @throws AppError `storage_full` if this many more bytes would use reserved space */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (!hasSpace(bavail * bsize, bytes)) throw storageFull();
}

/** Checks whether an upload of this size leaves enough free space. */
export function hasSpace(freeBytes: number, bytes: number): boolean {
  return freeBytes >= bytes + RESERVED_BYTES;
}

export function storageFull(cause?: unknown): AppError {
  return new AppError("storage_full", "No space is left for uploads.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** Checks whether an error or its cause reports a full disk or an exceeded quota. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || isDiskFull(error.cause);
}
