import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/schema.ts";
import type { FileReader } from "./disk/disk-transcript-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { StoreOwnership } from "./ownership/store-ownership.ts";
import type { RecordingStore } from "./recording-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

/** Where upload bytes are written and finished recordings are read. */
export type UploadTarget =
  | { kind: "folder"; folder: string }
  /** The scratch folder buffers parts until they are sent. */
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
  /** False for commands, which create nothing and refuse a store that the database does not know. */
  create: boolean;
  log: Logger;
}
