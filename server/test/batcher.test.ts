import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { together } from "../src/lib/batcher.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("what is asked together", () => {
  test("is answered each by its own, in calls that began after it was asked and are no larger than allowed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (pauses, lanes, most) => {
          let now = 0;
          let underWay = 0;
          const ask = together<{ name: number; askedAt: number }, string>(
            async (asks) => {
              const beganAt = ++now;
              underWay += 1;
              expect(underWay).toBeLessThanOrEqual(lanes);
              expect(asks.length).toBeLessThanOrEqual(most);
              for (const { askedAt } of asks) expect(askedAt).toBeLessThan(beganAt);
              for (let turns = 0; turns < asks.length; turns++) await turn();
              underWay -= 1;
              return asks.map(({ name }) => `answer ${name}`);
            },
            { lanes, most },
          );
          const answers: Promise<string>[] = [];
          for (const [name, pause] of pauses.entries()) {
            for (let turns = 0; turns < pause; turns++) await turn();
            answers.push(ask({ name, askedAt: ++now }));
          }
          expect(await Promise.all(answers)).toEqual(pauses.map((_pause, name) => `answer ${name}`));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("goes in few calls where many ask while one is under way", async () => {
    const sizes: number[] = [];
    const ask = together<number, number>(
      async (asks) => {
        sizes.push(asks.length);
        await turn();
        return asks;
      },
      { lanes: 1, most: 100 },
    );
    const first = ask(0);
    await turn();
    await Promise.all([first, ...Array.from({ length: 40 }, (_none, name) => ask(name))]);
    expect(sizes).toEqual([1, 40]);
  });

  test("fails alone if only it cannot be answered, also if it makes the whole call fail", async () => {
    const ask = together<string, string>(
      async (asks) => {
        if (asks.includes("ruinous")) throw new Error("all");
        return asks.map((name) => (name === "bad" ? Promise.reject(new Error("alone")) : name));
      },
      { lanes: 1, most: 10 },
    );
    expect(await Promise.allSettled([ask("good"), ask("bad")])).toMatchObject([
      { value: "good" },
      { reason: { message: "alone" } },
    ]);
    expect(await Promise.allSettled([ask("good"), ask("ruinous")])).toMatchObject([
      { value: "good" },
      { reason: { message: "all" } },
    ]);
    expect(await ask("good")).toBe("good");
  });
});
