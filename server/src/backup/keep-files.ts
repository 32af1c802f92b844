import { constants } from "node:fs";
import { copyFile, link, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { NamedFiles } from "./named-files.ts";

/** Error codes of file systems that cannot create hard links, or none between these two places. */
const NO_LINKS = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"]);

/**
 * Preserves the files that a video's rows name, under the same names in another folder: by a hard link if possible,
 * else by a copy. Skips recordings that are still growing (see `copyIfThere`). Replaces files that were preserved
 * earlier under these names.
 * @returns the number of missing files
 */
export async function keepFiles(from: string, to: string, named: NamedFiles): Promise<number> {
  let missing = 0;
  if (named.recording !== null && named.isUploaded) {
    if (!(await keep(join(from, named.recording), join(to, named.recording)))) missing += 1;
  }
  for (const folder of named.folders) {
    const names = await readdir(join(from, folder)).catch(nullIfMissing);
    for (const name of names ?? []) await keep(join(from, folder, name), join(to, folder, name));
    if (names === null) missing += 1;
  }
  return missing;
}

/** Copies a file as it is now; a missing file is not an error. Unlike a hard link, the copy does not grow with it. */
export async function copyIfThere(from: string, to: string, path: string): Promise<void> {
  await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE).catch(nullIfMissing);
}

/** Returns false if the file does not exist. */
async function keep(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rm(to, { force: true });
  try {
    if (!(await tryLink(from, to))) await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    return nullIfMissing(error as NodeJS.ErrnoException) !== null;
  }
}

/** Returns false if the file system cannot create the link. */
export async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (NO_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
