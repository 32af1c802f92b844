import { AppError, type AppErrorCode } from "./errors.ts";
import { isLostConnection } from "./lost-connection.ts";

const OUTAGES: ReadonlySet<string> = new Set<AppErrorCode>([
  "service_unavailable",
  "storage_full",
  "storage_unavailable",
]);

/**
 * Checks whether work failed because the database, the storage or disk space is unavailable. Such work is retried until
 * the outage ends, and the failure does not count toward a retry limit.
 */
export function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && isOutageCode(error.code);
}

export function isOutageCode(code: string): boolean {
  return OUTAGES.has(code);
}

/**
 * Returns the level at which to log an error. The circuit breaker logs when an outage begins and ends, so other errors
 * during an outage are logged at debug level. A full disk has no circuit breaker.
 */
export function logLevelOf<Level extends "info" | "warn" | "error">(
  error: unknown,
  level: Level,
): Level | "debug" {
  const isReported = (isOutage(error) && error.code !== "storage_full") || isLostConnection(error);
  return isReported ? "debug" : level;
}
