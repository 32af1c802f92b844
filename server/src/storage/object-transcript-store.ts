import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { assertStorageKey, assertStoragePrefix, isStorageKey } from "./key.ts";
import { type ObjectStore, PROBE_CONTENT, PROBES } from "./object-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

/** Prefix of transcript files in a bucket, as in the data folder. */
export const FILES = "files/";
/** Longer than any health check waits. */
const PROBE_LIVES_MS = 60_000;

/**
 * Stores objects in a bucket.
 * @param probeLivesMs age, by the bucket's clock, at which a probe object is a leftover; one minute by default
 */
export function openObjectTranscriptStore(
  objects: ObjectStore,
  { probeLivesMs = PROBE_LIVES_MS }: { probeLivesMs?: number } = {},
): TranscriptStore {
  let leftBehindRemoved = false;
  const inBucket = (key: string) => {
    assertStorageKey(key);
    return FILES + key;
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
      for await (const { key } of objects.list(FILES + prefix)) {
        const own = key.slice(FILES.length);
        if (isStorageKey(own)) yield own;
      }
    },

    async presign(key, options) {
      return await objects.presign(inBucket(key), options);
    },

    async check() {
      const key = PROBES + randomUUID();
      try {
        await objects.put(key, Buffer.from(PROBE_CONTENT));
        await buffer(await objects.get(key));
        // Only once: a listing costs as much as a write, and this is called every few seconds.
        if (!leftBehindRemoved) await removeLeftBehind(objects, key, probeLivesMs);
        leftBehindRemoved = true;
      } finally {
        await objects.remove(key);
      }
    },
  };
}

/** Removes probe objects of processes that were killed or disconnected before they could remove them. */
async function removeLeftBehind(objects: ObjectStore, own: string, probeLivesMs: number): Promise<void> {
  const probes = await Array.fromAsync(objects.list(PROBES));
  // Uses the bucket's clock, because this process's may be wrong.
  const now = probes.find(({ key }) => key === own)?.writtenAt;
  if (now === undefined) return;
  const old = probes.filter(
    ({ key, writtenAt }) => key !== own && now.getTime() - writtenAt.getTime() >= probeLivesMs,
  );
  for (const { key } of old) await objects.remove(key);
}
