import { AppError } from "../lib/errors.ts";

/**
 * Checks whether an error affects only one stored object. Work that needs the object fails, and everything else
 * continues. An error that affects all objects is an outage; see `outages.ts`.
 */
export function isObjectFault(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    (error.code === "storage_object_denied" || error.code === "storage_object_unusable")
  );
}

export function objectMissing(cause?: unknown): AppError {
  return new AppError("storage_object_missing", "The stored file is missing.", { cause });
}

export function objectDenied(cause: unknown): AppError {
  return new AppError("storage_object_denied", "The storage denies access to this file.", { cause });
}

/** Damaged, archived, or in a state in which the storage does not serve it. */
export function objectUnusable(cause: unknown): AppError {
  return new AppError("storage_object_unusable", "The storage cannot serve this file.", { cause });
}
