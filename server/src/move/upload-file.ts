import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { ObjectStore, UploadedPart } from "../storage/object-store.ts";

/** Larger files are uploaded in parts, of which S3 accepts at most 10,000. */
const PART_BYTES = 8 * 1024 ** 2;
const MAX_PARTS = 10_000;

/**
 * Uploads the first `sizeBytes` bytes of a file.
 * @returns the ETag that most servers give the object: the MD5 of the content, or that of the parts' MD5s
 */
export async function uploadFile(
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
