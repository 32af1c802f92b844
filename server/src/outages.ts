import { AppError, type AppErrorCode } from "./errors.ts";

const OUTAGES: ReadonlySet<string> = new Set<AppErrorCode>([
  "service_unavailable",
  "storage_full",
  "storage_unavailable",
]);

/**
 * Whether not the work failed but something that it needs is away: the database, the storage, room on a disk.
 * Such work is tried again for as long as that lasts, and it says nothing about the work.
 */
export function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && isOutageCode(error.code);
}

export function isOutageCode(code: string): boolean {
  return OUTAGES.has(code);
}
