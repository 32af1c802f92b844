import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/schema.ts";
import { CircuitBreaker } from "../lib/circuit-breaker.ts";
import { AppError } from "../lib/errors.ts";
import { lockFolder } from "../lib/folder-lock.ts";
import { openDiskRecordingStore } from "./disk/disk-recording-store.ts";
import { type FileReader, openDiskTranscriptStore } from "./disk/disk-transcript-store.ts";
import { probeFolder, unavailable } from "./disk/local-file.ts";
import type { ObjectStore } from "./object-store.ts";
import { checkStore, claimStore, INSTALLATION } from "./ownership/claim-store.ts";
import { StoreOwnership } from "./ownership/store-ownership.ts";
import { placeOnDisk, type StorePlace } from "./ownership/store-place.ts";
import type { RecordingStore } from "./recording-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

/** Where the bytes of uploads are written: the recordings of finished ones are read from the same place. */
export type UploadTarget =
  | { kind: "folder"; folder: string }
  /** Parts are buffered in the scratch folder until they are sent. */
  | { kind: "objects"; objects: ObjectStore; scratchFolder: string };

/** Where recordings, uploads and transcripts are stored: on this machine's disk, or in a bucket. */
export interface Stores {
  transcripts: TranscriptStore;
  recordings: RecordingStore;
  uploadTarget: UploadTarget;
  /** Serves the file URLs; null if the storage serves them itself. */
  files: FileReader | null;
  ownership: StoreOwnership;
  close(): Promise<void>;
}

export interface StoresOptions {
  config: Config;
  db: Db;
  /** Where the database is; see `databaseHome`. */
  home: string;
  /** Signs the file URLs of this service. */
  secret: Uint8Array;
  /** False for commands: then nothing is created, and a store that the database does not have yet is refused. */
  create: boolean;
  log: Logger;
}

/** @throws AppError `data_folder_in_use`, `data_folder_mismatch`, `installation_missing`, `storage_unavailable` */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { bucket } = options.config;
  if (bucket === null) return await openDiskStores(options);
  // Only then is the SDK of S3 loaded.
  const { openObjectStores } = await import("./open-object-stores.ts");
  return await openObjectStores(options, bucket);
}

async function openDiskStores(options: StoresOptions): Promise<Stores> {
  const { config, secret, log } = options;
  const { dataFolder, publicUrl } = config;
  const uploadsFolder = join(dataFolder, "uploads");
  const filesFolder = join(dataFolder, "files");
  const place = placeOnDisk(dataFolder, [uploadsFolder, filesFolder]);
  if (!options.create) await access(dataFolder).catch(() => Promise.reject(noInstallation(place)));
  // Uploads are written under locks of this process: two on one folder would write into each other's.
  const lock = lockFolder(join(dataFolder, "service"));
  const circuit = new CircuitBreaker({
    name: "the data folder",
    log,
    async probe() {
      // An empty folder remains if a disk is no longer mounted.
      if ((await place.read(INSTALLATION)) === null) throw new Error(`${dataFolder} is not the data folder`);
      for (const folder of [uploadsFolder, filesFolder]) await probeFolder(folder);
    },
    toError: unavailable,
  });
  const assertAvailable = () => circuit.probe();
  try {
    const ownership = await openOwnership(options, place);
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

/** @throws AppError `data_folder_mismatch`, `installation_missing` */
export async function openOwnership(
  { db, home, create, log }: Pick<StoresOptions, "db" | "home" | "create" | "log">,
  place: StorePlace,
): Promise<StoreOwnership> {
  const ownership = new StoreOwnership({ db, place, log: create ? log : null });
  if (create) {
    await claimStore({ db, place, home, log });
    await ownership.advance();
  } else if (!(await checkStore(db, place))) throw noInstallation(place);
  return ownership;
}

/** Prevents removals from a store that belongs to another database. */
export function guardRemoval<T extends { remove(name: string): Promise<void> }>(
  files: T,
  ownership: StoreOwnership,
): T {
  return {
    ...files,
    async remove(name: string) {
      await ownership.assertOwner();
      await files.remove(name);
    },
  };
}

function noInstallation({ name, setting }: StorePlace): AppError {
  return new AppError(
    "installation_missing",
    `There is no Subtext installation in ${name}. Check ${setting}; \`npx subtext serve\` creates one.`,
  );
}
