import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SpeechError } from "../errors.ts";

export function storeError(error: unknown, path: string): SpeechError {
  if (error instanceof SpeechError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOSPC: "the disk is full; free some space to resume the download",
    EDQUOT: "the disk quota is exceeded; free some space to resume the download",
    EACCES: "permission denied; set MODELS_DIR to a folder that this user can read and write",
    EPERM: "permission denied; set MODELS_DIR to a folder that this user can read and write",
    EROFS: "the disk is read-only; set MODELS_DIR to a writable folder",
    ENOENT: "the folder cannot be created; set MODELS_DIR to another folder",
    ELOOP: "it is a symbolic link",
  };
  const reason = (code && reasons[code]) ?? message;
  return new SpeechError("model_store_failed", `${path}: ${reason}.`, { cause: error });
}

/**
 * Creates a folder and its parents. With the option `recursive`, Node's `mkdir` would never return for some paths,
 * such as in `/proc`, where creating a folder fails with ENOENT.
 * @param path absolute
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isFolder(parent))) throw error;
    await makeFolders(parent);
    await makeFolders(path);
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
