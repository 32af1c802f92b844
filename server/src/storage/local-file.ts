import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { AppError } from "../errors.ts";

/** A file that stays readable, and the same, until it is closed, even if it is removed meanwhile. */
export interface OpenedFile {
  /** Bytes. */
  size: number;
  /** A strong entity tag, quoted: differs wherever the bytes may differ. */
  etag: string;
  /** Bytes `start` to `end`, both included. Closes the file at its end and when destroyed; call it once. */
  stream(range: { start: number; end: number }): Readable;
  close(): Promise<void>;
}

/** @throws AppError `storage_object_missing`, `storage_unavailable` */
export async function openLocalFile(path: string): Promise<OpenedFile> {
  const handle = await openExisting(path);
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw missing();
    return {
      size: Number(stats.size),
      // A write always makes a new file beside the old one, so the inode differs even where the clock
      // of the file system is too coarse to tell two writes apart.
      etag: `"${[stats.ino, stats.mtimeNs, stats.size].map((part) => part.toString(36)).join("-")}"`,
      stream: (range) => handle.createReadStream(range),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error instanceof AppError ? error : unavailable(error);
  }
}

async function openExisting(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    throw isAbsence(error) ? missing(error) : unavailable(error);
  }
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** Also where a file stands at the place of a folder: then no object of that name can exist. */
export function isAbsence(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function missing(cause?: unknown): AppError {
  return new AppError("storage_object_missing", "The stored file is missing.", { cause });
}

export function unavailable(cause: unknown): AppError {
  const code = codeOf(cause);
  return code === "ENOSPC" || code === "EDQUOT"
    ? new AppError("storage_full", "There is no space left to store files.", { cause })
    : new AppError("storage_unavailable", "The storage can not be read or written now.", { cause });
}
