import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { requireSpace } from "./disk/disk-space.ts";
import { unavailable } from "./disk/local-file.ts";
import { objectUnusable } from "./object-errors.ts";
import { MAX_PARTS, type ObjectStore } from "./object-store.ts";
import { completeUpload, listUploads, RECORDINGS_PREFIX, readUpload, removeUpload } from "./object-upload.ts";
import type { RecordingStore } from "./recording-store.ts";

/** Maximum number of consecutive connections that break before a byte arrives. */
const MAX_EMPTY_CONNECTIONS = 3;

/**
 * Opens the recordings in a bucket. Each attempt downloads the recording to `scratchFolder`, because a decoder must be
 * able to seek: the index of a recording may be at its end.
 */
export function openObjectRecordingStore(
  objects: ObjectStore,
  { scratchFolder }: { scratchFolder: string },
): RecordingStore {
  const keyOf = (videoId: string): string => {
    if (!isPlausibleId(videoId)) throw missing();
    return RECORDINGS_PREFIX + videoId;
  };

  const find = async (videoId: string) => {
    const found = await objects.head(keyOf(videoId));
    if (found) return found;
    // The response to HEAD is the same if the bucket itself does not exist.
    await objects.assertAvailable();
    throw missing();
  };

  return {
    async open(videoId, signal) {
      const { sizeBytes, etag } = await find(videoId);
      await requireSpace(scratchFolder, sizeBytes);
      const path = join(scratchFolder, `${videoId}.${randomUUID()}`);
      try {
        await downloadTo(path, objects, keyOf(videoId), { sizeBytes, etag, signal });
      } catch (error) {
        await rm(path, { force: true });
        signal.throwIfAborted();
        throw isLocal(error) ? unavailable(error) : objects.toStorageError(error);
      }
      return { path, release: () => rm(path, { force: true }) };
    },

    async openFile(videoId) {
      const key = keyOf(videoId);
      const { sizeBytes, etag } = await find(videoId);
      return {
        size: sizeBytes,
        etag,
        stream: (range) =>
          Readable.from(
            (async function* () {
              yield* await objects.get(key, { ...range, etag });
            })(),
            { objectMode: false },
          ),
        close: async () => {},
      };
    },

    presign: async (videoId, options) => await objects.presign(keyOf(videoId), options),

    async inspect(videoId) {
      const state = isPlausibleId(videoId) ? await readUpload(objects, videoId) : null;
      return state && { sizeBytes: state.sizeBytes };
    },

    async copy(videoId, newVideoId) {
      const { sizeBytes } = await find(videoId);
      await copyRecording(objects, { from: keyOf(videoId), to: keyOf(newVideoId), sizeBytes });
    },

    async sync(videoId) {
      await completeUpload(objects, videoId);
    },

    async remove(videoId) {
      if (isPlausibleId(videoId)) await removeUpload(objects, videoId);
    },

    async *list() {
      for await (const id of listUploads(objects)) if (isPlausibleId(id)) yield id;
    },
  };
}

/** Downloads a recording, which may be several gigabytes. Resumes after a broken connection. */
async function downloadTo(
  path: string,
  objects: ObjectStore,
  key: string,
  { sizeBytes, etag, signal }: { sizeBytes: number; etag: string; signal: AbortSignal },
): Promise<void> {
  let written = 0;
  let emptyConnections = 0;
  const write = async (content: Readable) => {
    const file = createWriteStream(path, { flags: written === 0 ? "w" : "r+", start: written, mode: 0o600 });
    try {
      await pipeline(content, file, { signal });
    } finally {
      emptyConnections = file.bytesWritten > 0 ? 0 : emptyConnections + 1;
      written += file.bytesWritten;
    }
  };
  if (sizeBytes === 0) return await write(Readable.from([]));
  while (written < sizeBytes) {
    let cause: unknown;
    const content = await objects.get(key, { start: written, end: sizeBytes - 1, etag, signal });
    try {
      await write(content);
    } catch (error) {
      if (signal.aborted || isLocal(error)) throw error;
      cause = error;
    }
    if (emptyConnections < MAX_EMPTY_CONNECTIONS) continue;
    await objects.assertAvailable();
    throw objectUnusable(new Error(`${written} of ${sizeBytes} bytes arrived`, { cause }));
  }
}

/** Checks whether the error comes from this machine's disk. A new connection would not help then. */
function isLocal(error: unknown): boolean {
  return (
    error instanceof Error && "syscall" in error && (error.syscall === "write" || error.syscall === "open")
  );
}

function missing(): AppError {
  return new AppError("storage_object_missing", "The uploaded recording is missing.");
}

/** Small enough that a part is copied before the idle timeout of the connection. S3 allows up to 5 GB. */
const COPY_PART_BYTES = 128 * 1024 ** 2;

/**
 * Copies a recording within the bucket. A large one is copied as the parts of a multipart upload, which
 * `completeUpload` completes.
 */
export async function copyRecording(
  objects: ObjectStore,
  {
    from,
    to,
    sizeBytes,
    partBytes = Math.max(COPY_PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS)),
  }: { from: string; to: string; sizeBytes: number; partBytes?: number },
): Promise<void> {
  if (sizeBytes <= partBytes) return await objects.copy(from, to);
  const upload = { key: to, id: await objects.multipart.begin(to) };
  for (let start = 0, number = 1; start < sizeBytes; start += partBytes, number += 1) {
    const end = Math.min(start + partBytes, sizeBytes) - 1;
    await objects.multipart.copyPart(upload, number, { from, start, end });
  }
}
