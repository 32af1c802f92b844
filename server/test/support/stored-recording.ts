import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { AppError } from "../../src/lib/errors.ts";
import type { Service } from "../../src/main.ts";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import { RECORDINGS_PREFIX } from "../../src/storage/object-upload.ts";
import type { S3Config } from "../../src/storage/s3/client-config.ts";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";

/** Reads a recording from disk or from the bucket. Returns null if the video has none. */
export async function readRecording({ parts }: Service, videoId: string): Promise<Buffer | null> {
  try {
    const file = await parts.recordings.openFile(videoId);
    if (file.size > 0) return await buffer(file.stream({ start: 0, end: file.size - 1 }));
    await file.close();
    return Buffer.alloc(0);
  } catch (error) {
    if (error instanceof AppError && error.code === "storage_object_missing") return null;
    throw error;
  }
}

/** Returns the stored size of a recording, which may still be uploading. */
export async function recordingBytes({ parts }: Service, videoId: string): Promise<number> {
  return (await parts.recordings.inspect(videoId))?.sizeBytes ?? 0;
}

/** Replaces a recording without using the service. */
export async function writeRecording(
  { parts }: Service,
  videoId: string,
  content: string | Uint8Array,
): Promise<void> {
  const { bucket, dataFolder } = parts.config;
  if (bucket === null) await writeFile(join(dataFolder, "uploads", videoId), content);
  else await withBucket(bucket, (opened) => opened.put(RECORDINGS_PREFIX + videoId, Buffer.from(content)));
}

/** Removes the mark that ties the files to their database. */
export async function removeInstallationMark({ parts }: Service): Promise<void> {
  const { bucket, dataFolder } = parts.config;
  if (bucket === null) await rm(join(dataFolder, "installation"));
  else await withBucket(bucket, (opened) => opened.remove("installation"));
}

async function withBucket(config: S3Config, change: (objects: ObjectStore) => Promise<void>): Promise<void> {
  const bucket = openS3ObjectStore(config);
  try {
    await change(bucket);
  } finally {
    bucket.close();
  }
}
