import type { Readable } from "node:stream";
import { DataStore, ERRORS, Upload } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { appendToUpload, type PartBuffers, RECORDINGS_PREFIX, readUpload } from "../storage/object-upload.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { declareVideoSize, findVideo } from "../videos/queries.ts";
import { findUpload, recordActivity } from "./queries.ts";
import { deleteUpload, expiryStart, type UploadStore } from "./upload-store.ts";

export interface ObjectUploadStoreOptions {
  objects: ObjectStore;
  db: Db;
  recordings: RecordingStore;
  expiryMs: number;
  maxUploadBytes: number;
  buffers: PartBuffers;
}

/**
 * A tus store in an object storage, with multipart uploads. The video's row is the only record of an upload. Each
 * upload buffers at most one part on this machine.
 */
class ObjectUploadStore extends DataStore implements UploadStore {
  readonly #options: ObjectUploadStoreOptions;

  constructor(options: ObjectUploadStoreOptions) {
    super();
    this.#options = options;
    this.extensions = [
      "creation",
      "creation-with-upload",
      "creation-defer-length",
      "termination",
      "expiration",
    ];
  }

  /** Does nothing for most uploads, because the caller has inserted the row and the first bytes create the object. */
  override async create(upload: Upload): Promise<Upload> {
    if (upload.size === 0) await this.#options.objects.put(RECORDINGS_PREFIX + upload.id, new Uint8Array());
    return upload;
  }

  override async getUpload(id: string): Promise<Upload> {
    const { db, objects } = this.#options;
    const video = await findUpload(db, id);
    if (!video) throw ERRORS.FILE_NOT_FOUND;
    const state = await readUpload(objects, id);
    return new Upload({
      id,
      offset: state?.sizeBytes ?? 0,
      metadata: video.metadata,
      creation_date: expiryStart(video.idleMs),
      ...(video.size_bytes !== null && { size: video.size_bytes }),
    });
  }

  override async write(content: Readable, id: string, offset: number): Promise<number> {
    const { db, objects, buffers, maxUploadBytes } = this.#options;
    const video = await findVideo(db, id);
    if (!video) throw ERRORS.FILE_NOT_FOUND;
    return await appendToUpload(objects, id, recordActivity(db, id, content, { offset, maxUploadBytes }), {
      offset,
      sizeBytes: video.size_bytes,
      buffers,
      signal: abortedOnDisconnect(content),
    });
  }

  override async declareUploadLength(id: string, sizeBytes: number): Promise<void> {
    await declareVideoSize(this.#options.db, id, sizeBytes);
  }

  override async remove(id: string): Promise<void> {
    const { db, recordings } = this.#options;
    if (!(await findVideo(db, id))) throw ERRORS.FILE_NOT_FOUND;
    await deleteUpload(db, recordings, id);
  }

  override getExpiration(): number {
    return this.#options.expiryMs;
  }

  override async deleteExpired(): Promise<number> {
    // The sweep removes expired uploads.
    return 0;
  }

  async requireSpace(): Promise<void> {}

  async ensureFile(): Promise<void> {}
}

/** Returns a signal that is aborted if the stream closes before its end. */
function abortedOnDisconnect(content: Readable): AbortSignal {
  const broken = new AbortController();
  content.once("close", () => {
    if (!content.readableEnded)
      broken.abort(content.errored ?? new Error("The connection closed during the upload."));
  });
  return broken.signal;
}

export function openObjectUploadStore(options: ObjectUploadStoreOptions): UploadStore {
  return new ObjectUploadStore(options);
}
