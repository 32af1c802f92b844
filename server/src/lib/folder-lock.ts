import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { tryLock } from "fs-native-extensions";
import { AppError } from "./errors.ts";

/** A kernel lock, held until it is released or the process ends. */
export interface FolderLock {
  release(): void;
}

/**
 * Locks a database folder, because two processes on one folder would lose committed rows. Locks a file next to the
 * folder, because the folder is created by a rename. The file remains after the release.
 *
 * @param folder may not exist: `service` and `move` in a data folder are only names of locks
 * @throws AppError `data_folder_in_use`
 */
export function lockFolder(folder: string): FolderLock {
  const path = `${folder}.lock`;
  const file = openSync(path, "a+", 0o600);
  try {
    if (!tryLock(file)) {
      const holder = readFileSync(path, "utf8").trim();
      const user = holder ? `process ${holder}` : "another process";
      throw new AppError(
        "data_folder_in_use",
        `The data folder ${dirname(folder)} is in use by ${user}. Stop that process, or set DATA_DIR to another folder.`,
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
