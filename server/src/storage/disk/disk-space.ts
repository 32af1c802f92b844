import { statfs } from "node:fs/promises";
import { AppError } from "../../lib/errors.ts";

/** What uploads leave free: the embedded database may live on the same disk and stops where that is full. */
export const RESERVED_BYTES = 1024 ** 3;
const RETRY_AFTER_SECONDS = 60;

/** @throws AppError `storage_full` where so many bytes more would use up what is to stay free */
export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (!hasSpace(bavail * bsize, bytes)) throw storageFull();
}

/** Whether an upload of this size is accepted with so much free. */
export function hasSpace(freeBytes: number, bytes: number): boolean {
  return freeBytes >= bytes + RESERVED_BYTES;
}

export function storageFull(cause?: unknown): AppError {
  return new AppError("storage_full", "There is no space left for uploads.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** Whether an error, or what caused it, is the file system's word for a full disk or an exhausted quota. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || isDiskFull(error.cause);
}
