import { createWriteStream } from "node:fs";
import { access, appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FileStore } from "@tus/file-store";
import { ERRORS, Upload } from "@tus/utils";
import type { Db } from "../db/schema.ts";
import { requireSpace } from "../storage/disk/disk-space.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { declareVideoSize, deleteOpenUpload, findVideo } from "../videos/queries.ts";
import { findUpload, recordActivity } from "./queries.ts";
import { deleteUpload, expiryStart, type UploadStore } from "./upload-store.ts";

/** Maximum number of bytes that a request writes between two checks of the free space. */
const CHECK_SPACE_EVERY_BYTES = 8 * 1024 ** 2;

class DiskUploadStore extends FileStore implements UploadStore {
  readonly #db: Db;
  readonly #recordings: RecordingStore;
  readonly #maxUploadBytes: number;

  constructor(
    options: ConstructorParameters<typeof FileStore>[0],
    { db, recordings, maxUploadBytes }: { db: Db; recordings: RecordingStore; maxUploadBytes: number },
  ) {
    super(options);
    this.#db = db;
    this.#recordings = recordings;
    this.#maxUploadBytes = maxUploadBytes;
  }

  override async remove(uploadId: string): Promise<void> {
    if (!(await findVideo(this.#db, uploadId))) throw ERRORS.FILE_NOT_FOUND;
    await deleteUpload(this.#db, this.#recordings, uploadId);
  }

  /** Creates the file, unless a repeated request has already created it and may have written to it. */
  override async create(upload: Upload): Promise<Upload> {
    await this.ensureFile(upload.id);
    return upload;
  }

  /** Replaces the file store's method, which would discard errors of the file system such as ENOSPC. */
  override async write(readable: Readable, uploadId: string, offset: number): Promise<number> {
    const file = createWriteStream(join(this.directory, uploadId), { flags: "r+", start: offset });
    const arrival = { offset, maxUploadBytes: this.#maxUploadBytes };
    const content = recordActivity(this.#db, uploadId, readable, arrival);
    await pipeline(this.#whileSpaceIsLeft(content), file);
    return offset + file.bytesWritten;
  }

  /** Checks again, because concurrent uploads share the space that was free when each of them began. */
  async *#whileSpaceIsLeft(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let uncheckedBytes = 0;
    for await (const chunk of content) {
      uncheckedBytes += chunk.length;
      if (uncheckedBytes >= CHECK_SPACE_EVERY_BYTES) {
        await this.requireSpace(0);
        uncheckedBytes = 0;
      }
      yield chunk;
    }
  }

  async requireSpace(bytes: number): Promise<void> {
    await requireSpace(this.directory, bytes);
  }

  async ensureFile(uploadId: string): Promise<void> {
    const path = join(this.directory, uploadId);
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    // Appends nothing, so a concurrent request that has created the file loses no bytes.
    if (!exists) await appendFile(path, "");
  }
}

/**
 * Opens the tus store on disk. The video's row is the only record of an upload, so a crash cannot leave contradictory
 * records. Insert the row before you call the store.
 */
export function openDiskUploadStore(options: {
  folder: string;
  db: Db;
  recordings: RecordingStore;
  expiryMs: number;
  maxUploadBytes: number;
}): UploadStore {
  const { folder, db, recordings, expiryMs, maxUploadBytes } = options;
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
    { db, recordings, maxUploadBytes },
  );
}
