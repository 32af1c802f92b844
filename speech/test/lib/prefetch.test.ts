import fc from "fast-check";
import { expect, test } from "vitest";
import { prefetch } from "../../src/lib/prefetch.ts";

/** Yields its items and counts how many were requested. */
function source(items: readonly number[], failAt: number | null = null) {
  const state = { requested: 0, returned: false };
  async function* generate() {
    try {
      for (const [index, item] of items.entries()) {
        state.requested += 1;
        await Promise.resolve();
        if (index === failAt) throw new Error("broken");
        yield item;
      }
    } finally {
      state.returned = true;
    }
  }
  return { items: generate(), state };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("yields every item once and in order, and never reads further ahead than its limit", async () => {
  const inputs = fc.tuple(fc.array(fc.integer(), { maxLength: 20 }), fc.integer({ min: 0, max: 5 }));
  await fc.assert(
    fc.asyncProperty(inputs, async ([numbers, count]) => {
      const { items, state } = source(numbers);
      const got: number[] = [];
      for await (const item of prefetch(items, count)) {
        got.push(item);
        await settled();
        expect(state.requested).toBe(Math.min(numbers.length, got.length + count));
      }
      expect(got).toEqual(numbers);
      expect(state.returned).toBe(true);
    }),
  );
});

test("an error of the source comes after the items before it", async () => {
  const { items } = source([1, 2, 3, 4], 2);
  const got: number[] = [];
  const read = async () => {
    for await (const item of prefetch(items, 3)) got.push(item);
  };
  await expect(read()).rejects.toThrow("broken");
  expect(got).toEqual([1, 2]);
});

test("a reader that leaves early ends the source", async () => {
  const { items, state } = source([1, 2, 3, 4, 5, 6]);
  for await (const item of prefetch(items, 1)) if (item === 2) break;
  expect(state.returned).toBe(true);
  expect(state.requested).toBeLessThan(6);
});
