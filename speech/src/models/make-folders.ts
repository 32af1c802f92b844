import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isFolder } from "./stored-model.ts";

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
