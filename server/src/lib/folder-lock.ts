import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { tryLock } from "fs-native-extensions";
import { AppError } from "./errors.ts";

/** Held until it is released or the process dies, however it dies: the kernel keeps it. */
export interface FolderLock {
  release(): void;
}

/**
 * Two processes on one database folder would lose rows that were acknowledged. The lock is a file beside the
 * folder, because the folder itself comes into being by a rename; the file stays when the lock is released.
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
