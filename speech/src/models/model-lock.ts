import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { tryLock } from "fs-native-extensions";
import { storeError } from "./file-system.ts";

/** An operating system lock, which is also released when the process exits for any reason. */
export interface ModelLock {
  release(): void;
}

/**
 * Acquires the lock of a model if it is free.
 * @param path of the lock file, which is created if necessary and never removed
 * @returns the holder if it is not free
 * @throws SpeechError `model_store_failed`
 */
export function tryModelLock(path: string): ModelLock | { holder: string } {
  let file: number | undefined;
  try {
    file = openSync(path, "a+", 0o644);
    if (!tryLock(file)) {
      const pid = readFileSync(path, "utf8").trim();
      closeSync(file);
      return { holder: pid ? `process ${pid}` : "another process" };
    }
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`);
  } catch (error) {
    if (file !== undefined) closeSync(file);
    throw storeError(error, path);
  }
  const held = file;
  return { release: () => closeSync(held) };
}
