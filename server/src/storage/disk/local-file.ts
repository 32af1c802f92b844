import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { AppError } from "../../lib/errors.ts";
import { codeOf, isAbsence } from "../../lib/files.ts";
import { isObjectFault, objectDenied, objectMissing, objectUnusable } from "../object-errors.ts";

/** An open file. It stays readable and unchanged until it is closed, even if it is removed. */
export interface OpenedFile {
  /** In bytes. */
  size: number;
  /** A strong entity tag in quotes. Differs if the bytes may differ. */
  etag: string;
  /**
   * Streams bytes `start` to `end`, inclusive. The file is closed when the stream ends or is destroyed, so call it only
   * once.
   */
  stream(range: { start: number; end: number }): Readable;
  close(): Promise<void>;
}

/** Throws if the folder cannot be read and written. */
export type AssertFolder = () => Promise<void>;

/** @throws the AppError that `fileError` or `missingError` returns */
export async function openLocalFile(path: string, assertFolder: AssertFolder): Promise<OpenedFile> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw objectMissing();
    const file = handle;
    return {
      size: Number(stats.size),
      // Every write creates a new file, so the inode distinguishes two writes even if the file system's clock does not.
      etag: `"${[stats.ino, stats.mtimeNs, stats.size].map((part) => part.toString(36)).join("-")}"`,
      stream: (range) => file.createReadStream(range),
      close: () => file.close(),
    };
  } catch (error) {
    await handle?.close();
    throw isAbsence(error) ? await missingError(error, assertFolder) : await fileError(error, assertFolder);
  }
}

const FULL = ["ENOSPC", "EDQUOT"];
/** Errors that affect the whole file system or this process. */
const OUTAGES = ["EROFS", "ESTALE", "ENODEV", "ENXIO", "ENOTCONN", "EMFILE", "ENFILE", "ENOMEM"];
const DENIED = ["EACCES", "EPERM"];

export function unavailable(cause: unknown): AppError {
  return FULL.includes(codeOf(cause) ?? "")
    ? new AppError("storage_full", "No space is left to store files.", { cause })
    : new AppError("storage_unavailable", "The storage currently cannot be read or written.", { cause });
}

/**
 * Classifies the error of an operation on one file.
 * @returns `storage_object_denied` or `storage_object_unusable` if the operation works for other files; otherwise
 *   `storage_full` or `storage_unavailable`
 */
export async function fileError(error: unknown, assertFolder: AssertFolder): Promise<AppError> {
  if (error instanceof AppError) return error;
  try {
    await assertFolder();
  } catch (cause) {
    return cause instanceof AppError ? cause : unavailable(cause);
  }
  const code = codeOf(error) ?? "";
  if (FULL.includes(code) || OUTAGES.includes(code)) return unavailable(error);
  return DENIED.includes(code) ? objectDenied(error) : objectUnusable(error);
}

/** Like `fileError`, for the error of a file that does not exist but should. */
export async function missingError(error: unknown, assertFolder: AssertFolder): Promise<AppError> {
  const fault = await fileError(error, assertFolder);
  return isObjectFault(fault) ? objectMissing(error) : fault;
}

export async function probeFolder(folder: string): Promise<void> {
  // Keys and ids cannot contain `~`, so a probe file is never mistaken for a stored file.
  const path = join(folder, `~probe-${randomUUID()}`);
  try {
    await writeFile(path, "subtext", { mode: 0o600 });
    await readFile(path);
  } finally {
    await rm(path, { force: true });
  }
}
