import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PartBuffer } from "../src/uploads/part-buffer.ts";
import { temporaryFolder } from "./support/service.ts";

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

test("a buffer returns what was appended, in whatever chunks it arrived, also after it was cleared", async () => {
  const folder = await temporaryFolder();
  const content = randomBytes(600 * KIB);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 200 * KIB }), { maxLength: 8 }), async (sizes) => {
      const buffer = new PartBuffer(folder);
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
          buffer.clear();
          expect(buffer.sizeBytes).toBe(0);
        }
      } finally {
        await buffer.close();
      }
    }),
    { numRuns: 50 },
  );
});

test("a large part is not kept in memory, and its file has no name", async () => {
  const folder = await temporaryFolder();
  const buffer = new PartBuffer(folder);
  await collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 64; count++) await buffer.append(Buffer.alloc(MIB));
  await collectGarbage();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * MIB);
  expect(await readdir(folder)).toEqual([]);
  await buffer.close();
});

test("what the disk refuses stays in the buffer", async () => {
  const buffer = new PartBuffer(join(await temporaryFolder(), "missing"));
  const content = randomBytes(300 * KIB);
  await expect(buffer.append(content)).rejects.toMatchObject({ code: "ENOENT" });
  expect((await buffer.read()).equals(content)).toBe(true);
  await buffer.close();
});
