import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { tryLock } from "fs-native-extensions";
import { storeError } from "./file-system.ts";

/** A kernel lock, held until it is released or the process exits for any reason. */
export interface ModelLock {
  release(): void;
}

/**
 * Takes the lock of a model if it is free.
 * @param path of the lock file, which is created if missing and never removed
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
