import { AppError } from "../lib/errors.ts";

/**
 * Checks whether an error affects only one stored object. Only work that needs the object then fails. An error that
 * affects all objects is an outage; see `outages.ts`.
 */
export function isObjectFault(error: unknown): error is AppError {
  return (
    error instanceof AppError &&
    (error.code === "storage_object_denied" || error.code === "storage_object_unusable")
  );
}

export function isObjectMissing(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "storage_object_missing";
}

/** Use as `.catch(nullIfObjectMissing)`: returns null if the object is missing, and rethrows any other error. */
export function nullIfObjectMissing(error: unknown): null {
  if (isObjectMissing(error)) return null;
  throw error;
}

export function objectMissing(cause?: unknown): AppError {
  return new AppError("storage_object_missing", "The stored file is missing.", { cause });
}

export function objectDenied(cause: unknown): AppError {
  return new AppError("storage_object_denied", "The storage denies access to this file.", { cause });
}

/** The object exists but cannot be read, for example because it is damaged or archived. */
export function objectUnusable(cause: unknown): AppError {
  return new AppError("storage_object_unusable", "The storage cannot serve this file.", { cause });
}
