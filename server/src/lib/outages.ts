import { AppError, type AppErrorCode } from "./errors.ts";
import { isLostConnection } from "./lost-connection.ts";

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

/**
 * The level of a line about an error. An outage has two lines of its own, when it begins and when it ends, so every
 * other line about it is for debugging. A full disk has none.
 */
export function logLevelOf<Level extends "info" | "warn" | "error">(
  error: unknown,
  level: Level,
): Level | "debug" {
  const isReported = (isOutage(error) && error.code !== "storage_full") || isLostConnection(error);
  return isReported ? "debug" : level;
}
