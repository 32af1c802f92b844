import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { PROBES_PREFIX } from "../../src/storage/object-store.ts";
import { openObjectTranscriptStore } from "../../src/storage/object-transcript-store.ts";
import { openTestBucket, testS3 } from "../support/test-bucket.ts";
import { describeStorage } from "./storage-contract.ts";

const s3 = testS3();

if (s3) {
  describeStorage("a bucket", async () => {
    const bucket = await openTestBucket(s3, `storage-${randomUUID()}`, "some/where/");
    return {
      transcripts: openObjectTranscriptStore(bucket),
      fetchUrl: (url) => fetch(url),
      // Swift lists an object's versions before it opens the newest, which another request may have removed by then.
      mayMissReplaced: true,
      close: async () => bucket.close(),
    };
  });

  test("removes old probes of others at its first check, but no probe of a check that may be running", async () => {
    const bucket = await openTestBucket(s3, `storage-${randomUUID()}`, "some/where/");
    const left = `${PROBES_PREFIX}${randomUUID()}`;
    const probes = async () => (await Array.fromAsync(bucket.list(PROBES_PREFIX))).map(({ key }) => key);
    await bucket.put(left, Buffer.from("subtext"));
    await openObjectTranscriptStore(bucket).check();
    expect(await probes()).toEqual([left]);
    await openObjectTranscriptStore(bucket, { probeMaxAgeMs: 0 }).check();
    expect(await probes()).toEqual([]);
    bucket.close();
  });
} else {
  describe("storage in a bucket", () => {
    // Not every machine has a server; CI starts one. The skip makes it visible.
    test.skip("is not tested: TEST_S3 names no server", () => {});
  });
}
