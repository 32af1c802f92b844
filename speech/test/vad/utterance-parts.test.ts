import fc from "fast-check";
import { expect, test } from "vitest";
import { cutOut, endOf, inBatches, partsAtPauses, speechSeconds } from "../../src/vad/utterance-parts.ts";
import type { SpokenUtterance } from "../../src/vad/utterances.ts";

/** Alternating speech and pauses, in windows of 512 samples; each sample's value is its index. */
const utterance = fc
  .tuple(
    fc.array(fc.tuple(fc.integer({ min: 6, max: 150 }), fc.integer({ min: 3, max: 60 })), {
      minLength: 1,
      maxLength: 12,
    }),
    fc.integer({ min: 0, max: 1_000_000 }),
  )
  .map(([turns, startWindow]): SpokenUtterance => {
    let windows = 8;
    const speech = turns.map(([spoken, pause]) => {
      const from = (startWindow + windows) * 0.032;
      windows += spoken + pause;
      return { start: from, end: (startWindow + windows - pause) * 0.032, probability: 1 };
    });
    const samples = Float32Array.from({ length: windows * 512 }, (_, index) => index);
    return { samples, start: startWindow * 0.032, speech };
  });
const minSeconds = fc.double({ min: 0.05, max: 5, noNaN: true });

test("the parts of an utterance hold every sample and every segment of speech once, in order", () => {
  fc.assert(
    fc.property(utterance, minSeconds, (whole, least) => {
      const parts = partsAtPauses(whole, least).map(cutOut);
      expect(parts.flatMap(({ speech }) => speech)).toEqual(whole.speech);
      let next = 0;
      for (const { samples, start, speech } of parts) {
        expect(samples[0]).toBe(next);
        expect(start).toBeCloseTo(whole.start + next / 16_000, 6);
        expect(speech[0]!.start).toBeGreaterThan(start);
        next += samples.length;
      }
      expect(next).toBe(whole.samples.length);
      expect(endOf(parts.at(-1)!)).toBeCloseTo(endOf(whole), 6);
    }),
    { numRuns: 40 },
  );
});

test("no part has less speech than requested, unless it is the whole utterance", () => {
  fc.assert(
    fc.property(utterance, minSeconds, (whole, least) => {
      const parts = partsAtPauses(whole, least);
      if (parts.length === 1) expect(cutOut(parts[0]!)).toBe(whole);
      else for (const part of parts) expect(speechSeconds(cutOut(part))).toBeGreaterThanOrEqual(least);
    }),
    { numRuns: 40 },
  );
});

test("a part that is too short is merged with the nearer neighbor", () => {
  const whole: SpokenUtterance = {
    samples: new Float32Array(16_000 * 8),
    start: 0,
    speech: [
      { start: 0, end: 2, probability: 1 },
      { start: 3, end: 3.5, probability: 1 },
      { start: 3.7, end: 6, probability: 1 },
    ],
  };
  expect(partsAtPauses(whole, 1).map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [1, 3],
  ]);
});

test("batches hold all utterances in order, none is empty and none larger than allowed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.2, max: 20, noNaN: true }), { maxLength: 50 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 100 }),
      (seconds, most, mostSeconds) => {
        const samples = new Float32Array(0);
        const group = seconds.map((end) => ({
          samples,
          start: 0,
          speech: [{ start: 0, end, probability: 1 }],
        }));
        const batches = inBatches(group, { utterances: most, speechSeconds: mostSeconds });
        expect(batches.flat()).toEqual(group);
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(most);
          const allButLast = batch.slice(0, -1).reduce((sum, one) => sum + speechSeconds(one), 0);
          expect(allButLast).toBeLessThan(mostSeconds);
        }
      },
    ),
  );
});
