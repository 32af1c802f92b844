import fc from "fast-check";
import { expect, test } from "vitest";
import { RemainingTime } from "../../src/lib/remaining-time.ts";

test("nothing is estimated before some work is done, or if the length is unknown", () => {
  const remaining = new RemainingTime();
  expect(remaining.after(0, 100, 0)).toBeNull();
  expect(remaining.after(1, 100, 50)).toBeNull();
  expect(remaining.after(20, null, 5_000)).toBeNull();
});

test("at a steady pace the rest takes as long as it should", () => {
  const rates = fc.record({
    pace: fc.double({ min: 0.1, max: 200, noNaN: true }),
    stepMs: fc.integer({ min: 50, max: 20_000 }),
    steps: fc.integer({ min: 1, max: 200 }),
  });
  fc.assert(
    fc.property(rates, ({ pace, stepMs, steps }) => {
      const duration = (pace * stepMs * 200) / 1000;
      const remaining = new RemainingTime();
      let estimate: number | null = null;
      for (let step = 0; step <= steps; step++) {
        estimate = remaining.after((pace * stepMs * step) / 1000, duration, step * stepMs);
      }
      const left = ((200 - steps) * stepMs) / 1000;
      if (estimate === null) expect(steps * stepMs).toBeLessThan(1_100);
      else expect(Math.abs(estimate - left)).toBeLessThanOrEqual(1 + left * 0.01);
    }),
  );
});

test("a pace that has changed for minutes is the one that counts", () => {
  const remaining = new RemainingTime();
  let estimate: number | null = null;
  for (let second = 0; second <= 100; second++)
    estimate = remaining.after(second * 100, 20_000, second * 1000);
  expect(estimate).toBe(100);
  for (let second = 1; second <= 300; second++) {
    estimate = remaining.after(10_000 + second, 20_000, (100 + second) * 1000);
  }
  expect(estimate).toBeGreaterThan(9_700 / 3);
  expect(estimate).toBeLessThan(9_800);
});

test("at the end nothing is left", () => {
  expect(new RemainingTime().after(60, 60, 10)).toBe(0);
});
