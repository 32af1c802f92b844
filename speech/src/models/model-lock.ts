import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { tryLock } from "fs-native-extensions";
import { storeError } from "./store-error.ts";

/** Held until it is released or the process dies, however it dies: the kernel keeps it. */
export interface ModelLock {
  release(): void;
}

/**
 * Takes the lock of a model, where nobody has it.
 * @param path of a file that is made where there is none, and that stays
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
