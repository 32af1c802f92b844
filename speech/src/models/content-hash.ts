import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** `git-blob-sha1` is how git names content: SHA-1 over `blob <bytes>\0` and the content. */
const HASH_HEX_LENGTHS = { sha256: 64, "git-blob-sha1": 40 } as const;

export type HashAlgorithm = keyof typeof HASH_HEX_LENGTHS;

export interface ContentHash {
  algorithm: HashAlgorithm;
  /** Lower-case hexadecimal. */
  hex: string;
}

/**
 * The hash that an entity tag of the hub states: SHA-256 for what git keeps in large file storage, git's own for
 * the rest. Null for every other tag: a tag may be anything.
 */
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

/**
 * Hashes a file as it lies on the disk, rather than what was written to it.
 * @param bytes the file's size
 */
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
