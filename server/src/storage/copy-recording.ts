import type { ObjectStore } from "./object-store.ts";

const MAX_PARTS = 10_000;
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
