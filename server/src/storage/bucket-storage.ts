import { randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { Bucket } from "./bucket.ts";
import { assertStorageKey, assertStoragePrefix, isStorageKey } from "./key.ts";
import type { Storage } from "./storage.ts";

/** Where transcript files stand in a bucket, as in the data folder. */
export const FILES = "files/";
/** Not in the alphabet of keys: what stands here can never be taken for an object. */
const PROBES = "~probes/";

/** Keeps objects in a bucket. */
export function openBucketStorage(bucket: Bucket): Storage {
  const inBucket = (key: string) => {
    assertStorageKey(key);
    return FILES + key;
  };

  return {
    async put(key, content) {
      await bucket.put(inBucket(key), content);
    },

    async read(key) {
      return await bucket.get(inBucket(key));
    },

    async remove(key) {
      await bucket.remove(inBucket(key));
    },

    async *list(prefix) {
      assertStoragePrefix(prefix);
      for await (const { key } of bucket.list(FILES + prefix)) {
        const own = key.slice(FILES.length);
        if (isStorageKey(own)) yield own;
      }
    },

    async presign(key, options) {
      return await bucket.presign(inBucket(key), options);
    },

    async check() {
      const key = PROBES + randomUUID();
      await bucket.put(key, Buffer.from("subtext"));
      await buffer(await bucket.get(key));
      await bucket.remove(key);
    },
  };
}
