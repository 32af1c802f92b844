import { buffer, text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObjectMissing } from "../../src/storage/object-errors.ts";
import type { TranscriptStore } from "../../src/storage/transcript-store.ts";

export interface StorageUnderTest {
  transcripts: TranscriptStore;
  /** Fetches a URL that the storage presigned, as a client of the service would. */
  fetchUrl(url: string): Promise<Response>;
  /** Whether an object can be reported as missing for a moment while it is replaced. */
  mayMissReplaced?: boolean;
  close(): Promise<void>;
}

/** What every storage must do, wherever it stores objects. Keys below `prefix` belong to the suite. */
export function describeStorage(name: string, open: () => Promise<StorageUnderTest>): void {
  describe(`${name} fulfills the storage contract`, () => {
    let harness: StorageUnderTest;
    let transcripts: TranscriptStore;
    beforeAll(async () => {
      harness = await open();
      transcripts = harness.transcripts;
    });
    afterAll(() => harness.close());

    const bytes = (content: string) => new TextEncoder().encode(content);
    const keysBelow = async (prefix: string) => (await Array.fromAsync(transcripts.list(prefix))).sort();

    it("returns any bytes under any key", async () => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(segments(), fc.uint8Array({ maxLength: 2000 }), async (path, content) => {
          round += 1;
          const key = `any/${round}/${path.join("/")}`;
          await transcripts.put(key, content);
          expect(new Uint8Array(await buffer(await transcripts.read(key)))).toEqual(content);
          expect(await keysBelow(`any/${round}/`)).toEqual([key]);
          await transcripts.remove(key);
          expect(await keysBelow(`any/${round}/`)).toEqual([]);
        }),
        { numRuns: 40 },
      );
    });

    it("stores an object of several megabytes and an empty one", async () => {
      const large = new Uint8Array(6_000_000).map((_, index) => index % 251);
      await transcripts.put("sizes/large", large);
      await transcripts.put("sizes/empty", new Uint8Array());
      expect(Buffer.compare(await buffer(await transcripts.read("sizes/large")), large)).toBe(0);
      expect(await buffer(await transcripts.read("sizes/empty"))).toHaveLength(0);
      expect((await transcripts.inspect("sizes/large"))?.sizeBytes).toBe(6_000_000);
      expect((await transcripts.inspect("sizes/empty"))?.sizeBytes).toBe(0);
      for (const missing of ["sizes/none", "sizes"]) expect(await transcripts.inspect(missing)).toBeNull();
    });

    it("replaces an object", async () => {
      await transcripts.put("again/a.txt", bytes("a longer first version"));
      await transcripts.put("again/a.txt", bytes("second"));
      expect(await text(await transcripts.read("again/a.txt"))).toBe("second");
      expect(await keysBelow("again/")).toEqual(["again/a.txt"]);
    });

    it("never shows a part of an object while it is replaced", async () => {
      const versions = ["1", "2"].map((digit) => digit.repeat(200_000));
      await transcripts.put("whole/a", bytes(versions[0]!));
      const writing = (async () => {
        for (let round = 0; round < 20; round += 1)
          await transcripts.put("whole/a", bytes(versions[round % 2]!));
      })();
      let missed = 0;
      for (let round = 0; round < 20; round += 1) {
        try {
          expect(versions.includes(await text(await transcripts.read("whole/a")))).toBe(true);
        } catch (error) {
          if (!isObjectMissing(error)) throw error;
          missed += 1;
        }
      }
      expect(missed).toBeLessThanOrEqual(harness.mayMissReplaced ? 1 : 0);
      await writing;
    });

    it("reports a missing object with its error code", async () => {
      await transcripts.put("missing/there", bytes("x"));
      for (const key of ["missing/none", "missing", "missing/there/below", "nothing/at/all"]) {
        await expect(transcripts.read(key)).rejects.toMatchObject({ code: "storage_object_missing" });
      }
    });

    it("removes an object once or twice without an error, and no other", async () => {
      await transcripts.put("remove/a/one", bytes("1"));
      await transcripts.put("remove/a/two", bytes("2"));
      await transcripts.remove("remove/a/one");
      await transcripts.remove("remove/a/one");
      await transcripts.remove("remove/never/was");
      expect(await keysBelow("remove/")).toEqual(["remove/a/two"]);
    });

    it("accepts an object in a folder whose last object was removed", async () => {
      await transcripts.put("reuse/a/b/c", bytes("1"));
      await transcripts.remove("reuse/a/b/c");
      await transcripts.put("reuse/a/b/c", bytes("2"));
      expect(await text(await transcripts.read("reuse/a/b/c"))).toBe("2");
    });

    it("lists by prefix, whether it ends at a slash or inside a name", async () => {
      const keys = ["list/v1/a.vtt", "list/v1/b/c.txt", "list/v10/d.json", "list/w"];
      for (const key of keys) await transcripts.put(key, bytes(key));
      expect(await keysBelow("list/")).toEqual(keys);
      expect(await keysBelow("list/v1")).toEqual(keys.slice(0, 3));
      expect(await keysBelow("list/v1/")).toEqual(keys.slice(0, 2));
      expect(await keysBelow("list/v1/b/c")).toEqual(["list/v1/b/c.txt"]);
      expect(await keysBelow("list/none/")).toEqual([]);
      expect(await keysBelow("")).toEqual(expect.arrayContaining(keys));
    });

    it("supports concurrent writes and removals in the same folders", async () => {
      const keys = Array.from({ length: 30 }, (_, index) => `side/by/${index % 3}/${index}`);
      const churn = async (key: string) => {
        for (let round = 0; round < 5; round += 1) {
          await transcripts.put(key, bytes(key));
          await transcripts.remove(key);
        }
        await transcripts.put(key, bytes(key));
      };
      await Promise.all(keys.map(churn));
      expect(await keysBelow("side/")).toEqual([...keys].sort());
    });

    it("rejects keys that could leave its folder or prefix", async () => {
      const odd = [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/./b",
        "a\\b",
        "a\0",
        "ä",
        "a b",
        "~a",
      ];
      for (const key of [...odd, "a/".repeat(600).concat("b"), "a".repeat(300)]) {
        await expect(transcripts.put(key, bytes("x"))).rejects.toThrow(TypeError);
        await expect(transcripts.read(key)).rejects.toThrow(TypeError);
        await expect(transcripts.remove(key)).rejects.toThrow(TypeError);
      }
      await expect(keysBelow("../")).rejects.toThrow(TypeError);
    });

    it("presigns a URL that any page can load, with its type and name", async () => {
      await transcripts.put("presign/a.vtt", bytes("WEBVTT\n\n"));
      const now = new Date();
      const options = {
        contentType: "text/vtt",
        fileName: "Année 1 – “début”.vtt",
        lifetimeSeconds: 300,
        now,
      };
      const { url, expiresAt } = await transcripts.presign("presign/a.vtt", options);
      expect(expiresAt.getTime()).toBeGreaterThanOrEqual(now.getTime() + 299_000);
      expect(expiresAt.getTime()).toBeLessThanOrEqual(now.getTime() + 301_000);
      const response = await harness.fetchUrl(url);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe("WEBVTT\n\n");
      expect(response.headers.get("content-type")).toMatch(/^text\/vtt; ?charset=utf-8$/);
      expect(response.headers.get("content-disposition")).toContain("filename*=UTF-8''Ann%C3%A9e%201%20");
    });

    it("presigns a URL that expires", async () => {
      await transcripts.put("presign/ended.txt", bytes("secret"));
      const { url } = await transcripts.presign("presign/ended.txt", {
        contentType: "text/plain",
        fileName: "a.txt",
        lifetimeSeconds: 60,
        now: new Date(Date.now() - 3_600_000),
      });
      const response = await harness.fetchUrl(url);
      expect(response.status).toBe(403);
      expect(await response.text()).not.toContain("secret");
    });

    it("passes its own check, and leaves no trace of it", async () => {
      const before = await keysBelow("");
      await transcripts.check();
      expect(await keysBelow("")).toEqual(before);
    });
  });
}

function segments(): fc.Arbitrary<string[]> {
  const segment = fc
    .stringMatching(/^[A-Za-z0-9_.-]{1,40}$/)
    .filter((candidate) => candidate !== "." && candidate !== "..");
  return fc.array(segment, { minLength: 1, maxLength: 4 });
}
