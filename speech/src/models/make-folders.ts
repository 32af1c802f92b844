import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isFolder } from "./stored-model.ts";

/**
 * Makes a folder, with those above it that are missing. Node's own `recursive` does not come to an end where a
 * folder is there that takes no other, and calls it missing, as `/proc` does.
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
