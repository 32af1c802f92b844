import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { tryLock } from "fs-native-extensions";
import { AppError } from "./errors.ts";

/** Held until it is released or the process ends: the lock belongs to the kernel. */
export interface FolderLock {
  release(): void;
}

/**
 * Locks a database folder: two processes that use the same folder would lose committed rows. The lock is a file
 * next to the folder, because the folder itself is created by a rename. The file remains after the lock is released.
 *
 * @throws AppError `data_folder_in_use`
 */
export function lockFolder(folder: string): FolderLock {
  const path = `${folder}.lock`;
  const file = openSync(path, "a+", 0o600);
  try {
    if (!tryLock(file)) {
      const holder = readFileSync(path, "utf8").trim();
      throw new AppError(
        "data_folder_in_use",
        `the data folder ${folder} is in use by ${holder ? `process ${holder}` : "another process"}`,
      );
    }
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return { release: () => closeSync(file) };
}
