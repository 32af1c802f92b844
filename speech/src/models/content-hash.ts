import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** `git-blob-sha1` is git's hash of a file: the SHA-1 hash of `blob <bytes>\0` and the content. */
const HASH_HEX_LENGTHS = { sha256: 64, "git-blob-sha1": 40 } as const;

export type HashAlgorithm = keyof typeof HASH_HEX_LENGTHS;

export interface ContentHash {
  algorithm: HashAlgorithm;
  /** Lower-case hexadecimal. */
  hex: string;
}

/** Returns the hash in an ETag of the hub: SHA-256 for files in Git LFS, git's hash for others. Null for other ETags. */
export function hashOfEntityTag(entityTag: string | null): ContentHash | null {
  const hex = entityTag?.match(/^(?:W\/)?"?(?:sha256:)?([0-9a-f]{40}|[0-9a-f]{64})"?$/i)?.[1]?.toLowerCase();
  if (hex === undefined) return null;
  return { algorithm: hex.length === HASH_HEX_LENGTHS.sha256 ? "sha256" : "git-blob-sha1", hex };
}

export function isContentHash(value: unknown): value is ContentHash {
  if (typeof value !== "object" || value === null) return false;
  const { algorithm, hex } = value as Partial<ContentHash>;
  if (algorithm !== "sha256" && algorithm !== "git-blob-sha1") return false;
  return typeof hex === "string" && /^[0-9a-f]+$/.test(hex) && hex.length === HASH_HEX_LENGTHS[algorithm];
}

/** @param bytes size of the file */
export async function hashFile(
  path: string,
  bytes: number,
  algorithm: HashAlgorithm,
  signal: AbortSignal,
): Promise<ContentHash> {
  const hash = createHash(algorithm === "sha256" ? "sha256" : "sha1");
  if (algorithm === "git-blob-sha1") hash.update(`blob ${bytes}\0`);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) hash.update(chunk);
  return { algorithm, hex: hash.digest("hex") };
}
