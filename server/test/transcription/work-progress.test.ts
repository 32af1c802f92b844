import fc from "fast-check";
import { expect, test } from "vitest";
import { WorkProgress } from "../../src/transcription/recognize.ts";

test("progress and the remaining time are consistent", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 0.9, noNaN: true }),
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 10_000 }),
      (initial, workedSeconds, remainingSeconds) => {
        const progress = new WorkProgress();
        expect(progress.after({ done: initial * 60, duration: 60, remainingSeconds: null }, 0)).toBeCloseTo(
          initial,
        );
        // The position in the recording says nothing about the time: parts of a recording differ in cost.
        const share = progress.after({ done: 60, duration: 60, remainingSeconds }, workedSeconds * 1000);
        const ownShare = (share - initial) / (1 - initial);
        expect(ownShare * (workedSeconds + remainingSeconds)).toBeCloseTo(workedSeconds, 5);
      },
    ),
  );
});

test("progress never decreases, starts with what earlier attempts did, and ends with 1", () => {
  const progress = new WorkProgress();
  const at = (seconds: number, done: number, remainingSeconds: number | null) =>
    progress.after({ done, duration: 100, remainingSeconds }, seconds * 1000);
  expect(at(0, 27, null)).toBe(0.27);
  expect(at(1, 50, null)).toBe(0.27);
  const half = at(10, 60, 10);
  expect(half).toBeCloseTo(0.27 + 0.73 / 2);
  expect(at(11, 61, 500)).toBe(half);
  expect(at(12, 100, 0)).toBe(1);
});

test("progress of a recording of unknown length stays at 0", () => {
  expect(new WorkProgress().after({ done: 30, duration: null, remainingSeconds: null }, 1)).toBe(0);
});
