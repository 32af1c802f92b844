import type { Db } from "../db/schema.ts";
import { openPartBuffers, partSizeFor } from "../storage/object-upload.ts";
import type { Stores } from "../storage/stores.ts";
import { openDiskUploadStore } from "./disk-upload-store.ts";
import { openObjectUploadStore } from "./object-upload-store.ts";
import type { UploadStore } from "./upload-store.ts";

export interface UploadStoreOptions {
  db: Db;
  expiryMs: number;
  maxUploadBytes: number;
  /** Maximum size of all parts that are buffered on disk. */
  bufferBytes: number;
}

export function openUploadStore(
  { uploadTarget: target, recordings }: Pick<Stores, "uploadTarget" | "recordings">,
  { db, expiryMs, maxUploadBytes, bufferBytes }: UploadStoreOptions,
): UploadStore {
  if (target.kind === "folder")
    return openDiskUploadStore({ folder: target.folder, db, recordings, expiryMs });
  const { objects, scratchFolder: folder } = target;
  const buffers = openPartBuffers({ partBytes: partSizeFor(maxUploadBytes), folder, diskBytes: bufferBytes });
  return openObjectUploadStore({ objects, db, recordings, expiryMs, buffers });
}
