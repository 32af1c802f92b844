import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SpeechError } from "../errors.ts";

/** Converts an error of the file system to one that says what to do. */
export function storeError(error: unknown, path: string): SpeechError {
  if (error instanceof SpeechError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOSPC: "the disk is full: make space, and it goes on from where it stopped",
    EDQUOT: "the disk quota is used up: make space, and it goes on from where it stopped",
    EACCES: "it may not be written to by this user: let MODELS_DIR name a folder that may",
    EPERM: "it may not be written to by this user: let MODELS_DIR name a folder that may",
    EROFS: "it lies on a disk that can only be read: let MODELS_DIR name a folder that can be written to",
    ENOENT: "no folder can be made there: let MODELS_DIR name one that can",
    ELOOP: "a link stands in its place",
  };
  const reason = (code && reasons[code]) ?? message;
  return new SpeechError("model_store_failed", `${path}: ${reason}.`, { cause: error });
}

/**
 * Creates a folder and missing parents. Node's `recursive` never returns if a parent rejects new folders and
 * reports them as missing, as `/proc` does.
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
