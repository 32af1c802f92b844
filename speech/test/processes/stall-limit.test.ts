import { expect, test } from "vitest";
import { stallLimitMs } from "../../src/processes/stall-limit.ts";

const BASE_MS = 20 * 60_000;
const limit = (threads: number, modelBytes: number, slowestStepMs = 0) =>
  stallLimitMs(BASE_MS, { threads, modelBytes, slowestStepMs });

test("small models and transcription servers have the base limit", () => {
  expect(limit(2, 0)).toBe(BASE_MS);
  expect(limit(1, 300e6)).toBe(BASE_MS);
});

test("large models have more time, above all with few threads", () => {
  expect(limit(2, 7_500e6)).toBe(3 * BASE_MS);
  expect(limit(1, 7_500e6)).toBe(6 * BASE_MS);
});

test("slow machines have ten times as long as their slowest step took", () => {
  expect(limit(2, 0, 60_000)).toBe(BASE_MS);
  expect(limit(2, 0, 10 * 60_000)).toBe(5 * BASE_MS);
});
