import { createWriteStream } from "node:fs";
import { access, appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FileStore } from "@tus/file-store";
import { type DataStore, ERRORS, Upload } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import { AppError } from "../lib/errors.ts";
import { requireSpace } from "../storage/disk/disk-space.ts";
import type { Sources } from "../storage/recording-store.ts";
import { declareVideoSize, deleteOpenUpload, findVideo } from "../videos/queries.ts";
import { findUpload, recordActivity } from "./queries.ts";

/** What a tus server keeps uploads in, and whether there is room for more. */
export interface UploadStore extends DataStore {
  /** @throws AppError `storage_full` where so many bytes more would leave too little free */
  requireSpace(bytes: number): Promise<void>;
  /** Makes the place for the bytes of an upload whose row is there, where it is not there yet. */
  ensurePlace(uploadId: string): Promise<void>;
}

class DiskUploadStore extends FileStore implements UploadStore {
  readonly #db: Db;
  readonly #sources: Sources;

  constructor(
    options: ConstructorParameters<typeof FileStore>[0],
    { db, sources }: { db: Db; sources: Sources },
  ) {
    super(options);
    this.#db = db;
    this.#sources = sources;
  }

  override async remove(uploadId: string): Promise<void> {
    if (!(await findVideo(this.#db, uploadId))) throw ERRORS.FILE_NOT_FOUND;
    await deleteUpload(this.#db, this.#sources, uploadId);
  }

  /** Its row already exists, and a repeated request may have created its file and written to it. */
  override async create(upload: Upload): Promise<Upload> {
    await this.ensurePlace(upload.id);
    return upload;
  }

  /** Fails with the reason of the file system, such as ENOSPC; the file store's own drops it. */
  override async write(readable: Readable, uploadId: string, offset: number): Promise<number> {
    const file = createWriteStream(join(this.directory, uploadId), { flags: "r+", start: offset });
    await pipeline(recordActivity(this.#db, uploadId, readable), file);
    return offset + file.bytesWritten;
  }

  async requireSpace(bytes: number): Promise<void> {
    await requireSpace(this.directory, bytes);
  }

  async ensurePlace(uploadId: string): Promise<void> {
    const path = join(this.directory, uploadId);
    const there = await access(path).then(
      () => true,
      () => false,
    );
    // Appends nothing: where another request made it meanwhile, its bytes stay.
    if (!there) await appendFile(path, "");
  }
}

/** Deletes an upload that never completed: the row first, so that a crash in between leaves a tombstone. */
export async function deleteUpload(db: Db, sources: Sources, uploadId: string): Promise<void> {
  await deleteOpenUpload(db, uploadId);
  try {
    await sources.remove(uploadId);
  } catch (error) {
    // The sweep removes it once the store is accepted.
    if (!(error instanceof AppError) || error.code !== "storage_deletions_stopped") throw error;
  }
}

/**
 * What the tus server counts the expiry from, by this machine's clock, with which it compares. How long the upload has
 * been idle comes from the database alone, so it does not matter how far the clocks are apart.
 */
export function expiryStart(idleMs: number): string {
  return new Date(Date.now() - idleMs).toISOString();
}

/**
 * The tus store on disk. What is known of an upload is its video's row, not a file beside it: a crash can
 * not leave the two at odds, and every process sees the same. The row is made before the store is asked,
 * by the one who knows whose upload it is.
 */
export function openDiskUploadStore(options: {
  folder: string;
  db: Db;
  sources: Sources;
  expiryMs: number;
}): UploadStore {
  const { folder, db, sources, expiryMs } = options;
  const configstore = {
    async get(id: string): Promise<Upload | undefined> {
      const video = await findUpload(db, id);
      if (!video) return undefined;
      return new Upload({
        id,
        offset: 0,
        metadata: video.metadata,
        creation_date: expiryStart(video.idleMs),
        ...(video.size_bytes !== null && { size: video.size_bytes }),
      });
    },
    async set(id: string, upload: Upload): Promise<void> {
      if (upload.size !== undefined) await declareVideoSize(db, id, upload.size);
    },
    async delete(id: string): Promise<void> {
      await deleteOpenUpload(db, id);
    },
  };
  return new DiskUploadStore(
    { directory: folder, expirationPeriodInMilliseconds: expiryMs, configstore },
    { db, sources },
  );
}
