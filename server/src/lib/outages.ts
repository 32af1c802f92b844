import { AppError, type AppErrorCode } from "./errors.ts";
import { isLostConnection } from "./lost-connection.ts";

const OUTAGES: ReadonlySet<string> = new Set<AppErrorCode>([
  "service_unavailable",
  "storage_full",
  "storage_unavailable",
]);

/**
 * Whether work failed because a dependency is unavailable: the database, the storage, disk space. Such work is retried
 * for as long as the outage lasts, and the failure does not count against it.
 */
export function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && isOutageCode(error.code);
}

export function isOutageCode(code: string): boolean {
  return OUTAGES.has(code);
}

/**
 * The level at which an error is logged. The circuit breaker logs the beginning and the end of an outage, so every
 * other line about it has level debug. A full disk has no circuit breaker.
 */
export function logLevelOf<Level extends "info" | "warn" | "error">(
  error: unknown,
  level: Level,
): Level | "debug" {
  const isReported = (isOutage(error) && error.code !== "storage_full") || isLostConnection(error);
  return isReported ? "debug" : level;
}
