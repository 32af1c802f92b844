import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../backup/manifest.ts";
import type { Db } from "../db/schema.ts";
import { nullIfAbsent, walk } from "../lib/files.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { isStorageKey } from "../storage/key.ts";
import {
  MAX_PARTS,
  type ObjectStore,
  type StoredObject,
  type UploadedPart,
} from "../storage/object-store.ts";
import { FILES_PREFIX } from "../storage/object-transcript-store.ts";
import {
  appendToUpload,
  type PartBuffers,
  RECORDINGS_PREFIX,
  removeUpload,
  TAILS_PREFIX,
} from "../storage/object-upload.ts";
import type { CopiedFiles } from "./copied-files.ts";

/** Maximum number of concurrent uploads. */
export const CONCURRENCY = 8;

export interface FileCount {
  files: number;
  bytes: number;
}

export interface CopyFilesOptions {
  /** The data folder. */
  from: string;
  objects: ObjectStore;
  copied: CopiedFiles;
  onProgress(done: FileCount): void;
}

/** A stored file in the data folder. Its key is its path relative to that folder. */
interface LocalFile {
  key: string;
  path: string;
  sizeBytes: number;
  modifiedNs: string;
}

/**
 * Copies all files that are not in the bucket yet, and verifies each copy. The service may be running: files that
 * change or disappear in the meantime are left to the final copy.
 * @returns the number and size of the files that are now in the bucket
 */
export async function copyFiles(options: CopyFilesOptions): Promise<FileCount> {
  return await copyListed(options, new Set());
}

/**
 * Copies the remaining files and the unfinished uploads, and removes objects whose files are no longer on the disk. No
 * service may be running.
 * @param db the database of the data folder
 */
export async function copyRemainingFiles(
  options: CopyFilesOptions & { db: Db; buffers: PartBuffers },
): Promise<FileCount> {
  const { objects, db } = options;
  const unfinished = await db
    .selectFrom("video")
    .select(["id", "size_bytes"])
    .where("uploaded_at", "is", null)
    .execute();
  const unfinishedIds = new Set(unfinished.map(({ id }) => id));
  const present = new Set<string>();
  const done = await copyListed(options, unfinishedIds, present);
  for await (const { key } of stored(objects)) if (!present.has(key)) await objects.remove(key);
  for (const prefix of [RECORDINGS_PREFIX, TAILS_PREFIX, FILES_PREFIX]) {
    for (const { key } of await objects.multipart.listBelow(prefix)) await objects.multipart.abort(key);
  }
  for (const { id, size_bytes } of unfinished) {
    const bytes = await copyUnfinishedUpload(options, { id, sizeBytes: size_bytes });
    if (bytes === null) continue;
    done.files += 1;
    done.bytes += bytes;
  }
  return done;
}

/** Lists the files that a move to a bucket copies. */
export async function* localFiles(from: string): AsyncGenerator<LocalFile> {
  for await (const id of walk(join(from, RECORDINGS_PREFIX))) {
    if (isPlausibleId(id)) yield* inspect(from, RECORDINGS_PREFIX + id);
  }
  for await (const key of walk(join(from, FILES_PREFIX))) {
    if (isStorageKey(key)) yield* inspect(from, FILES_PREFIX + key);
  }
}

/** @param present collects the keys of the files that are now in the bucket */
async function copyListed(
  { from, objects, copied, onProgress }: CopyFilesOptions,
  unfinishedIds: ReadonlySet<string>,
  present = new Set<string>(),
): Promise<FileCount> {
  const inBucket = new Map<string, StoredObject>();
  for await (const object of stored(objects)) inBucket.set(object.key, object);
  const done = { files: 0, bytes: 0 };
  const uploaded = new Set<string>();
  await forEach(localFiles(from), async (file) => {
    if (file.key.startsWith(RECORDINGS_PREFIX) && unfinishedIds.has(file.key.slice(RECORDINGS_PREFIX.length)))
      return;
    if (!isCopied(file, copied, inBucket.get(file.key))) {
      const etag = await uploadFile(objects, file.key, file).catch(nullIfAbsent);
      // The file was changed or deleted during the upload.
      if (etag === null || !(await isUnchanged(from, file))) return;
      copied.add({ ...entryOf(file), etag });
      uploaded.add(file.key);
    }
    present.add(file.key);
    done.files += 1;
    done.bytes += file.sizeBytes;
    onProgress({ ...done });
  });
  if (uploaded.size > 0) await verify({ from, objects, copied }, uploaded);
  return done;
}

function isCopied(file: LocalFile, copied: CopiedFiles, object: StoredObject | undefined): boolean {
  const before = copied.get(file.key);
  return (
    before !== undefined &&
    object !== undefined &&
    before.sizeBytes === file.sizeBytes &&
    before.modifiedNs === file.modifiedNs &&
    object.sizeBytes === file.sizeBytes &&
    object.etag === before.etag
  );
}

/**
 * Compares the bucket's listing with the uploaded files. If an ETag is not the expected MD5, for example because the
 * bucket encrypts its objects, the object is read back and compared.
 * @throws Error if the content of an object differs from its file
 */
async function verify(
  { from, objects, copied }: Pick<CopyFilesOptions, "from" | "objects" | "copied">,
  uploaded: Set<string>,
): Promise<void> {
  const unverified = new Set(uploaded);
  for await (const { key, sizeBytes, etag } of stored(objects)) {
    const entry = copied.get(key);
    if (!entry || !unverified.delete(key) || (entry.sizeBytes === sizeBytes && entry.etag === etag)) continue;
    const content = await hashFile(join(from, key)).catch(nullIfAbsent);
    if (content === null) continue;
    if (entry.sizeBytes !== sizeBytes || content !== (await hashObject(objects, key))) {
      throw new Error(`The object ${key} in the bucket ${objects.name} differs from its file.`);
    }
    copied.add({ ...entry, etag });
  }
  for (const key of unverified) {
    throw new Error(`The object ${key} was uploaded, but the bucket ${objects.name} does not list it.`);
  }
}

async function hashObject(objects: ObjectStore, key: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of await objects.get(key)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/**
 * Copies the bytes that have arrived so far, so that the client's next request can append to them.
 * @returns the number of bytes; null if the file does not exist
 */
async function copyUnfinishedUpload(
  { from, objects, buffers }: CopyFilesOptions & { buffers: PartBuffers },
  { id, sizeBytes }: { id: string; sizeBytes: number | null },
): Promise<number | null> {
  await removeUpload(objects, id);
  const path = join(from, RECORDINGS_PREFIX, id);
  const found = await stat(path).catch(nullIfAbsent);
  if (found === null) return null;
  const received = await appendToUpload(objects, id, createReadStream(path), {
    offset: 0,
    sizeBytes,
    buffers,
    signal: new AbortController().signal,
  });
  if (received !== found.size) {
    throw new Error(`${received} of ${found.size} bytes of the unfinished upload ${id} were copied.`);
  }
  return received;
}

/** Yields all objects in the bucket that belong to recordings or transcripts. */
async function* stored(objects: ObjectStore): AsyncGenerator<StoredObject> {
  for (const prefix of [RECORDINGS_PREFIX, TAILS_PREFIX, FILES_PREFIX]) yield* objects.list(prefix);
}

async function* inspect(from: string, key: string): AsyncGenerator<LocalFile> {
  const path = join(from, key);
  const stats = await stat(path, { bigint: true }).catch(nullIfAbsent);
  if (stats) yield { key, path, sizeBytes: Number(stats.size), modifiedNs: String(stats.mtimeNs) };
}

async function isUnchanged(from: string, file: LocalFile): Promise<boolean> {
  for await (const now of inspect(from, file.key)) {
    return now.sizeBytes === file.sizeBytes && now.modifiedNs === file.modifiedNs;
  }
  return false;
}

function entryOf({ key, sizeBytes, modifiedNs }: LocalFile) {
  return { key, sizeBytes, modifiedNs };
}

/** Calls `work` for each item, with up to `CONCURRENCY` calls at a time. Stops at the first failure. */
async function forEach<T>(items: AsyncGenerator<T>, work: (item: T) => Promise<void>): Promise<void> {
  const worker = async () => {
    for await (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** Larger files are uploaded in parts. */
const PART_BYTES = 8 * 1024 ** 2;

/**
 * Uploads the first `sizeBytes` bytes of a file.
 * @returns the ETag that most servers give the object: the MD5 of the content, or that of the parts' MD5s
 */
async function uploadFile(
  objects: ObjectStore,
  key: string,
  { path, sizeBytes }: { path: string; sizeBytes: number },
): Promise<string> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS));
  await using file = await open(path, "r");
  if (sizeBytes <= partBytes) {
    const content = await readExactly(file, 0, sizeBytes);
    await objects.put(key, content);
    return `"${md5(content).toString("hex")}"`;
  }
  const upload = { key, id: await objects.multipart.begin(key) };
  const parts: UploadedPart[] = [];
  const hashes: Buffer[] = [];
  for (let start = 0; start < sizeBytes; start += partBytes) {
    const content = await readExactly(file, start, Math.min(partBytes, sizeBytes - start));
    hashes.push(md5(content));
    parts.push(await objects.multipart.sendPart(upload, parts.length + 1, content));
  }
  await objects.multipart.complete(upload, parts);
  return `"${md5(Buffer.concat(hashes)).toString("hex")}-${parts.length}"`;
}

async function readExactly(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(content, filled, length - filled, start + filled);
    if (bytesRead === 0) throw new Error(`a file became shorter while it was read`);
    filled += bytesRead;
  }
  return content;
}

function md5(content: Buffer): Buffer {
  return createHash("md5").update(content).digest();
}
