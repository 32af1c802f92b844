import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Db } from "../db/schema.ts";
import { lockFolder } from "../folder-lock.ts";
import { matchInstallation, placeOnDisk } from "../installation.ts";
import { OutageWatch } from "../outage-watch.ts";
import { type FileReader, openDiskStorage } from "./disk.ts";
import { openDiskSources } from "./disk-sources.ts";
import { probeFolder, unavailable } from "./local-file.ts";
import type { Sources } from "./sources.ts";
import type { Storage } from "./storage.ts";
import { openDiskUploadStore, type UploadStore } from "./upload-store.ts";

/** Where recordings, uploads and transcripts are kept: on this machine's disk, or in a bucket. */
export interface Stores {
  storage: Storage;
  sources: Sources;
  uploads: UploadStore;
  /** What serves the file URLs; null where the storage serves them itself. */
  files: FileReader | null;
  close(): Promise<void>;
}

export interface StoresOptions {
  config: Config;
  db: Db;
  /** Signs the file URLs of this service. */
  secret: Uint8Array;
  log: Logger;
}

/** @throws AppError `data_folder_in_use`, `data_folder_mismatch`, `storage_unavailable` */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { bucket } = options.config;
  if (bucket === null) return await openDiskStores(options);
  // Only then is the SDK of S3 loaded.
  const { openBucketStores } = await import("./open-bucket-stores.ts");
  return await openBucketStores(options, bucket);
}

async function openDiskStores({ config, db, secret, log }: StoresOptions): Promise<Stores> {
  const { dataFolder, publicUrl, uploadExpiryMs } = config;
  // Uploads are written under locks of this process: two on one folder would write into each other's.
  const lock = lockFolder(join(dataFolder, "service"));
  const uploadsFolder = join(dataFolder, "uploads");
  const filesFolder = join(dataFolder, "files");
  const place = placeOnDisk(dataFolder, [uploadsFolder, filesFolder]);
  const outages = new OutageWatch({
    name: "the data folder",
    log,
    async ask() {
      // An empty folder is what is left where a disk is no longer mounted.
      if ((await place.read()) === null) throw new Error(`${dataFolder} is not the data folder`);
      for (const folder of [uploadsFolder, filesFolder]) await probeFolder(folder);
    },
    away: unavailable,
  });
  const assertAvailable = () => outages.assertAnswers();
  try {
    const sources = await openDiskSources(uploadsFolder, assertAvailable);
    await mkdir(filesFolder, { recursive: true, mode: 0o700 });
    await matchInstallation(db, place);
    const storage = await openDiskStorage({
      folder: filesFolder,
      baseUrl: publicUrl,
      secret,
      assertAvailable,
    });
    return {
      storage,
      sources,
      uploads: openDiskUploadStore({ folder: uploadsFolder, db, sources, expiryMs: uploadExpiryMs }),
      files: storage,
      async close() {
        outages.close();
        lock.release();
      },
    };
  } catch (error) {
    outages.close();
    lock.release();
    throw error;
  }
}
