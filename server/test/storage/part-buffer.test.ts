import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { openPartBuffer, openPartBuffers } from "../../src/storage/object-upload.ts";
import { PartBuffer } from "../../src/storage/part-buffer.ts";
import { temporaryFolder } from "../support/service.ts";

const KIB = 1024;
const MIB = 1024 ** 2;

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");
/** Buffers are collected once no write that has ended refers to them any more. */
async function collectGarbage(): Promise<void> {
  await setImmediate();
  gc();
  gc();
}

const unlimited = async () => () => {};

test("a buffer returns what was appended, in whatever chunks it arrived, also after it was cleared", async () => {
  const folder = await temporaryFolder();
  const content = randomBytes(600 * KIB);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 200 * KIB }), { maxLength: 8 }), async (sizes) => {
      const buffer = new PartBuffer({ folder, reserve: unlimited });
      try {
        for (const _part of [1, 2]) {
          let at = 0;
          for (const size of sizes) {
            const chunk = content.subarray(at, at + size);
            await buffer.append(chunk);
            at += chunk.length;
          }
          expect(buffer.sizeBytes).toBe(at);
          expect((await buffer.read()).equals(content.subarray(0, at))).toBe(true);
          await buffer.clear();
          expect(buffer.sizeBytes).toBe(0);
        }
      } finally {
        await buffer.clear();
      }
    }),
    { numRuns: 50 },
  );
});

test("a large part is not held in memory, and its file has no name", async () => {
  const folder = await temporaryFolder();
  const buffer = new PartBuffer({ folder, reserve: unlimited });
  await collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 64; count++) await buffer.append(Buffer.alloc(MIB));
  await collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * MIB);
  expect(await readdir(folder)).toEqual([]);
  await buffer.clear();
});

test("parts that the disk rejects stay in the buffer", async () => {
  const buffer = new PartBuffer({ folder: join(await temporaryFolder(), "missing"), reserve: unlimited });
  const content = randomBytes(300 * KIB);
  await expect(buffer.append(content)).rejects.toMatchObject({ code: "ENOENT" });
  expect((await buffer.read()).equals(content)).toBe(true);
  await buffer.clear();
});

test("parts beyond the disk limit wait until another is released or their client disconnects", async () => {
  const folder = await temporaryFolder();
  const buffers = openPartBuffers({ partBytes: 5 * MIB, folder, diskBytes: 11 * MIB });
  const receive = (id: string) => {
    const client = new AbortController();
    const buffer = openPartBuffer(buffers, id, client.signal);
    return { client, buffer, appended: buffer.append(Buffer.alloc(MIB, id)) };
  };
  const [a, b, c, d] = [receive("a"), receive("b"), receive("c"), receive("d")];
  let isServed = false;
  let refusal: unknown;
  void d.appended.then(() => (isServed = true));
  c.appended.catch((error) => (refusal = error));
  await Promise.all([a.appended, b.appended]);
  // Parts that need no disk do not wait.
  const small = openPartBuffer(buffers, "e", new AbortController().signal);
  await small.append(Buffer.alloc(KIB));

  c.client.abort(new Error("The client is gone."));
  await vi.waitFor(() => expect(refusal).toMatchObject({ message: "The client is gone." }), 10_000);
  expect((await c.buffer.read()).equals(Buffer.alloc(MIB, "c"))).toBe(true);
  await c.buffer.clear();
  expect(isServed).toBe(false);
  await a.buffer.clear();
  await vi.waitFor(() => expect(isServed).toBe(true), 10_000);
  for (const { buffer } of [b, d]) await buffer.clear();
  await small.clear();
});
