import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../lib/errors.ts";
import { type FolderLock, lockFolder } from "../lib/folder-lock.ts";
import { type ObjectStorageConfig, openObjectStore, settingsPatternOf } from "./backends.ts";
import { openObjectRecordingStore } from "./object-recording-store.ts";
import { FILES_PREFIX, openObjectTranscriptStore } from "./object-transcript-store.ts";
import { RECORDINGS_PREFIX, TAILS_PREFIX } from "./object-upload.ts";
import { guardRemoval, openOwnership } from "./ownership/open-ownership.ts";
import { bucketLocation } from "./ownership/store-location.ts";
import type { StoreOwnership } from "./ownership/store-ownership.ts";
import type { Stores, StoresOptions } from "./stores.ts";

/** @throws AppError `data_folder_mismatch`, `installation_missing`, `storage_unavailable` */
export async function openBucketStores(
  options: StoresOptions,
  bucketConfig: ObjectStorageConfig,
): Promise<Stores> {
  const { create, log } = options;
  const { dataFolder } = options.config;
  const objects = await openObjectStore(bucketConfig, log);
  let ownership: StoreOwnership;
  try {
    ownership = await openOwnership(
      options,
      bucketLocation(objects, [FILES_PREFIX, RECORDINGS_PREFIX, TAILS_PREFIX]),
    );
  } catch (error) {
    objects.close();
    throw explain(error, bucketConfig);
  }
  // Commands do not download recordings, so they need no scratch folder.
  const scratch = create
    ? await openScratch(join(dataFolder, "scratch")).catch((error) => {
        objects.close();
        throw error;
      })
    : null;
  const scratchFolder = scratch?.folder ?? dataFolder;
  return {
    transcripts: guardRemoval(openObjectTranscriptStore(objects), ownership),
    recordings: guardRemoval(openObjectRecordingStore(objects, { scratchFolder }), ownership),
    ownership,
    uploadTarget: { kind: "objects", objects, scratchFolder },
    files: null,
    async close() {
      objects.close();
      await scratch?.remove();
    },
  };
}

/** Creates a folder for this process and removes those of crashed processes. */
async function openScratch(parent: string): Promise<{ folder: string; remove(): Promise<void> }> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const removeLocked = async (folder: string, lock: FolderLock) => {
    await rm(folder, { recursive: true, force: true });
    await rm(`${folder}.lock`, { force: true });
    lock.release();
  };
  for (const name of await readdir(parent)) {
    if (name.endsWith(".lock")) continue;
    try {
      await removeLocked(join(parent, name), lockFolder(join(parent, name)));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "data_folder_in_use") throw error;
    }
  }
  const folder = join(parent, randomUUID());
  const lock = lockFolder(folder);
  await mkdir(folder, { mode: 0o700 });
  return { folder, remove: () => removeLocked(folder, lock) };
}

/** Says which settings to check, because wrong settings are more likely at startup than an outage. */
function explain(error: unknown, config: ObjectStorageConfig): unknown {
  const { name, endpoint } = config;
  if (!(error instanceof AppError) || error.code !== "storage_unavailable") return error;
  const where = endpoint === null ? "" : ` at ${endpoint}`;
  const reason = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const message = `The bucket ${name}${where} cannot be used${reason}. Check the ${settingsPatternOf(config)} settings.`;
  return new AppError("storage_unavailable", message, { cause: error.cause });
}
