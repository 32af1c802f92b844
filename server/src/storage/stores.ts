import type { Logger } from "pino";
import type { Db } from "../db/schema.ts";
import type { ObjectStorageConfig } from "./backends.ts";
import type { FileReader } from "./disk/disk-transcript-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { StoreOwnership } from "./ownership/store-ownership.ts";
import type { RecordingStore } from "./recording-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

export type UploadTarget =
  | { kind: "folder"; folder: string }
  /** `scratchFolder` buffers parts until they are sent. */
  | { kind: "objects"; objects: ObjectStore; scratchFolder: string };

export interface Stores {
  transcripts: TranscriptStore;
  recordings: RecordingStore;
  uploadTarget: UploadTarget;
  /** Serves file URLs; null if the storage serves them itself. */
  files: FileReader | null;
  ownership: StoreOwnership;
  close(): Promise<void>;
}

export interface StoresOptions {
  config: {
    /** Absolute path. */
    dataFolder: string;
    publicUrl: string;
    /** Null to store files in the data folder. */
    bucket: ObjectStorageConfig | null;
  };
  db: Db;
  /** Location of the database; see `databaseHome`. */
  home: string;
  secret: Uint8Array;
  /** False for commands, which create nothing and refuse a store that is not the database's. */
  create: boolean;
  log: Logger;
}
