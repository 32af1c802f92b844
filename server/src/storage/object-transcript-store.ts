import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { assertStorageKey, assertStoragePrefix, isStorageKey } from "./key.ts";
import { type ObjectStore, PROBE_CONTENT, PROBES_PREFIX } from "./object-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

/** Key prefix of transcript files, the same as the folder on disk. */
export const FILES_PREFIX = "files/";
/** Older probe objects are leftovers, because every health check takes less time. */
const PROBE_MAX_AGE_MS = 60_000;

/**
 * Stores objects in a bucket.
 * @param probeMaxAgeMs maximum age, by the bucket's clock, of a probe object that may still be in use
 */
export function openObjectTranscriptStore(
  objects: ObjectStore,
  { probeMaxAgeMs = PROBE_MAX_AGE_MS }: { probeMaxAgeMs?: number } = {},
): TranscriptStore {
  let orphansRemoved = false;
  const inBucket = (key: string) => {
    assertStorageKey(key);
    return FILES_PREFIX + key;
  };

  return {
    async put(key, content) {
      await objects.put(inBucket(key), content);
    },

    async read(key) {
      return await objects.get(inBucket(key));
    },

    async inspect(key) {
      return await objects.head(inBucket(key));
    },

    async remove(key) {
      await objects.remove(inBucket(key));
    },

    async *list(prefix) {
      assertStoragePrefix(prefix);
      for await (const { key } of objects.list(FILES_PREFIX + prefix)) {
        const own = key.slice(FILES_PREFIX.length);
        if (isStorageKey(own)) yield own;
      }
    },

    async presign(key, options) {
      return await objects.presign(inBucket(key), options);
    },

    async check() {
      const key = PROBES_PREFIX + randomUUID();
      try {
        await objects.put(key, Buffer.from(PROBE_CONTENT));
        await buffer(await objects.get(key));
        // Once per process, because a listing costs as much as a write and `check` is called every few seconds.
        if (!orphansRemoved) await removeOrphanedProbes(objects, key, probeMaxAgeMs);
        orphansRemoved = true;
      } finally {
        await objects.remove(key);
      }
    },
  };
}

/** Removes probe objects of processes that stopped before they could remove them. */
async function removeOrphanedProbes(objects: ObjectStore, own: string, probeMaxAgeMs: number): Promise<void> {
  const probes = await Array.fromAsync(objects.list(PROBES_PREFIX));
  // The bucket's clock determines the age, because this machine's clock may be wrong.
  const now = probes.find(({ key }) => key === own)?.writtenAt;
  if (now === undefined) return;
  const old = probes.filter(
    ({ key, writtenAt }) => key !== own && now.getTime() - writtenAt.getTime() >= probeMaxAgeMs,
  );
  for (const { key } of old) await objects.remove(key);
}
