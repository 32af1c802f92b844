import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBatcher } from "../../src/lib/batcher.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("a batcher", () => {
  test("returns each call's own result from batches that start after the call and respect both limits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (pauses, maxConcurrency, maxBatchSize) => {
          let now = 0;
          let running = 0;
          const load = createBatcher<{ name: number; calledAt: number }, string>(
            async (items) => {
              const startedAt = ++now;
              running += 1;
              expect(running).toBeLessThanOrEqual(maxConcurrency);
              expect(items.length).toBeLessThanOrEqual(maxBatchSize);
              for (const { calledAt } of items) expect(calledAt).toBeLessThan(startedAt);
              for (let turns = 0; turns < items.length; turns++) await nextTurn();
              running -= 1;
              return items.map(({ name }) => `result ${name}`);
            },
            { maxConcurrency, maxBatchSize },
          );
          const results: Promise<string>[] = [];
          for (const [name, pause] of pauses.entries()) {
            for (let turns = 0; turns < pause; turns++) await nextTurn();
            results.push(load({ name, calledAt: ++now }));
          }
          expect(await Promise.all(results)).toEqual(pauses.map((_pause, name) => `result ${name}`));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("collects calls made during a batch into the next one", async () => {
    const sizes: number[] = [];
    const load = createBatcher<number, number>(
      async (items) => {
        sizes.push(items.length);
        await nextTurn();
        return items;
      },
      { maxConcurrency: 1, maxBatchSize: 100 },
    );
    const first = load(0);
    await nextTurn();
    await Promise.all([first, ...Array.from({ length: 40 }, (_none, name) => load(name))]);
    expect(sizes).toEqual([1, 40]);
  });

  test("fails only the call whose item failed, even if that item fails the whole batch", async () => {
    const load = createBatcher<string, string>(
      async (items) => {
        if (items.includes("fatal")) throw new Error("batch");
        return items.map((name) => (name === "bad" ? Promise.reject(new Error("item")) : name));
      },
      { maxConcurrency: 1, maxBatchSize: 10 },
    );
    expect(await Promise.allSettled([load("good"), load("bad")])).toMatchObject([
      { value: "good" },
      { reason: { message: "item" } },
    ]);
    expect(await Promise.allSettled([load("good"), load("fatal")])).toMatchObject([
      { value: "good" },
      { reason: { message: "batch" } },
    ]);
    expect(await load("good")).toBe("good");
  });
});
