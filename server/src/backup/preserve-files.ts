import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nullIfAbsent, tryLink } from "../lib/files.ts";
import type { VideoFiles } from "./video-files.ts";

/**
 * Preserves a video's files under the same names in another folder, as hard links if possible, otherwise as copies.
 * Skips recordings that are still growing, because a hard link would grow with them. Replaces existing files.
 * @returns false if the recording or a folder is missing
 */
export async function preserveFiles(from: string, to: string, named: VideoFiles): Promise<boolean> {
  let isComplete = true;
  if (named.recording !== null && named.isUploaded) {
    if (!(await preserve(join(from, named.recording), join(to, named.recording)))) isComplete = false;
  }
  for (const folder of named.folders) {
    const names = await readdir(join(from, folder)).catch(nullIfAbsent);
    for (const name of names ?? []) await preserve(join(from, folder, name), join(to, folder, name));
    if (names === null) isComplete = false;
  }
  return isComplete;
}

export async function copyIfPresent(from: string, to: string, path: string): Promise<void> {
  await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE).catch(nullIfAbsent);
}

/** Returns false if the file does not exist. */
async function preserve(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rm(to, { force: true });
  try {
    if (!(await tryLink(from, to))) await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    return nullIfAbsent(error) !== null;
  }
}
