import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CircuitBreaker } from "../lib/circuit-breaker.ts";
import { lockFolder } from "../lib/folder-lock.ts";
import { openDiskRecordingStore } from "./disk/disk-recording-store.ts";
import { openDiskTranscriptStore, UNFINISHED_FOLDER } from "./disk/disk-transcript-store.ts";
import { probeFolder, unavailable } from "./disk/local-file.ts";
import { openBucketStores } from "./open-bucket-stores.ts";
import { INSTALLATION } from "./ownership/claim-store.ts";
import { guardRemoval, noInstallation, openOwnership } from "./ownership/open-ownership.ts";
import { diskLocation } from "./ownership/store-location.ts";
import type { Stores, StoresOptions } from "./stores.ts";

/** @throws AppError `data_folder_in_use`, `data_folder_mismatch`, `installation_missing`, `storage_unavailable` */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { bucket } = options.config;
  if (bucket === null) return await openDiskStores(options);
  return await openBucketStores(options, bucket);
}

async function openDiskStores(options: StoresOptions): Promise<Stores> {
  const { config, secret, log } = options;
  const { dataFolder, publicUrl } = config;
  const uploadsFolder = join(dataFolder, "uploads");
  const filesFolder = join(dataFolder, "files");
  const location = diskLocation(dataFolder, [uploadsFolder, filesFolder]);
  if (!options.create) await access(dataFolder).catch(() => Promise.reject(noInstallation(location)));
  // Upload locks are in memory, so two processes on one folder could write to the same upload.
  const lock = lockFolder(join(dataFolder, "service"));
  const circuit = new CircuitBreaker({
    name: "the data folder",
    log,
    async probe() {
      // If the disk is not mounted, its mount point is an empty folder.
      if ((await location.read(INSTALLATION)) === null)
        throw new Error(`${dataFolder} does not contain the data of this installation; is its disk mounted?`);
      // An empty mount point of the transcripts does not contain this folder.
      for (const folder of [uploadsFolder, join(filesFolder, UNFINISHED_FOLDER)]) await probeFolder(folder);
    },
    toError: unavailable,
  });
  const assertAvailable = () => circuit.probe();
  try {
    const ownership = await openOwnership(options, location);
    const recordings = guardRemoval(await openDiskRecordingStore(uploadsFolder, assertAvailable), ownership);
    await mkdir(filesFolder, { recursive: true, mode: 0o700 });
    const transcripts = await openDiskTranscriptStore({
      folder: filesFolder,
      baseUrl: publicUrl,
      secret,
      assertAvailable,
    });
    return {
      transcripts: guardRemoval(transcripts, ownership),
      recordings,
      uploadTarget: { kind: "folder", folder: uploadsFolder },
      files: transcripts,
      ownership,
      async close() {
        circuit.close();
        lock.release();
      },
    };
  } catch (error) {
    circuit.close();
    lock.release();
    throw error;
  }
}
