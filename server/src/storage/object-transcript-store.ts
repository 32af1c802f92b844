import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { assertStorageKey, assertStoragePrefix, isStorageKey } from "./key.ts";
import { type ObjectStore, PROBE_CONTENT, PROBES } from "./object-store.ts";
import type { TranscriptStore } from "./transcript-store.ts";

/** Where transcript files stand in a bucket, as in the data folder. */
export const FILES = "files/";
/** Longer than a check takes that anybody still waits for. */
const PROBE_LIVES_MS = 60_000;

/**
 * Keeps objects in a bucket.
 * @param probeLivesMs a probe that is older, by the bucket's clock, was left behind; a minute unless told
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
        // Once: listing costs as much as writing, and this is asked every few seconds.
        if (!leftBehindRemoved) await removeLeftBehind(objects, key, probeLivesMs);
        leftBehindRemoved = true;
      } finally {
        await objects.remove(key);
      }
    },
  };
}

/** Probes of processes that were killed, or cut off, before they could remove them. */
async function removeLeftBehind(objects: ObjectStore, own: string, probeLivesMs: number): Promise<void> {
  const probes = await Array.fromAsync(objects.list(PROBES));
  // By the bucket's clock: this process's may be off.
  const now = probes.find(({ key }) => key === own)?.writtenAt;
  if (now === undefined) return;
  const old = probes.filter(
    ({ key, writtenAt }) => key !== own && now.getTime() - writtenAt.getTime() >= probeLivesMs,
  );
  for (const { key } of old) await objects.remove(key);
}
