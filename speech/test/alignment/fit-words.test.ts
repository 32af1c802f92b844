import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitToPauses, removeOverlaps } from "../../src/alignment/fit-words.ts";
import type { TimedWord } from "../../src/transcript.ts";

const word = (start: number, end: number): TimedWord => ({ word: "word", start, end, confidence: 1 });
const times = (words: readonly TimedWord[]) => words.map(({ start, end }) => [start, end]);

/** Increasing times in pairs: words in order, or spans of speech. */
const spans = fc
  .array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 40 })
  .map((steps) => {
    let at = 0;
    return steps.map((step) => {
      at += step / 1000;
      return at;
    });
  })
  .map((seconds) =>
    Array.from({ length: seconds.length >> 1 }, (_, index) => ({
      start: seconds[2 * index]!,
      end: seconds[2 * index + 1]!,
    })),
  );

describe("words at a pause", () => {
  const speech = [
    { start: 1, end: 2 },
    { start: 4, end: 5 },
  ];

  test("that begin inside it begin where speech sets in", () => {
    expect(times(fitToPauses([word(2.9, 4.4), word(4.4, 4.9)], speech))[0]).toEqual([3.97, 4.4]);
  });

  test("that run on into it end where speech ends", () => {
    expect(times(fitToPauses([word(1.1, 1.4), word(1.4, 3.1)], speech))[1]).toEqual([1.4, 2]);
  });

  test("that span it belong to the side on which more of them is spoken", () => {
    expect(times(fitToPauses([word(1.9, 4.97)], speech))).toEqual([[3.97, 4.97]]);
    expect(times(fitToPauses([word(1, 4.1)], speech))).toEqual([[1, 2]]);
  });

  test("reach the edge of the speech there if they nearly do", () => {
    expect(times(fitToPauses([word(1.2, 1.5), word(1.5, 1.8)], speech))).toEqual([
      [1, 1.5],
      [1.5, 1.97],
    ]);
    expect(times(fitToPauses([word(1.4, 1.6)], speech))).toEqual([[1.4, 1.6]]);
  });

  test("that lie wholly inside it stay where they are", () => {
    expect(times(fitToPauses([word(2.5, 3)], speech))).toEqual([[2.5, 3]]);
  });

  test("shorter than 0.2 s are left alone: it may be a stop inside the word", () => {
    const stop = [
      { start: 1, end: 1.5 },
      { start: 1.65, end: 2 },
    ];
    expect(times(fitToPauses([word(1, 1.9)], stop))).toEqual([[1, 1.97]]);
  });

  test("stay in order and overlap nothing, and never turn back", () => {
    fc.assert(
      fc.property(spans, spans, (said, speech) => {
        const words = said.map(({ start, end }) => word(start, end));
        const trimmed = fitToPauses(words, speech);
        for (const [index, { start, end }] of trimmed.entries()) {
          expect(end).toBeGreaterThanOrEqual(start);
          if (index > 0) expect(start).toBeGreaterThanOrEqual(trimmed[index - 1]!.end);
        }
      }),
    );
  });
});

describe("a word longer than anybody takes for it", () => {
  const speech = [{ start: 0, end: 20 }];
  const longest = 2 + 0.1 * "word".length;

  test("ends early, because it has absorbed speech that was skipped after it", () => {
    expect(times(fitToPauses([word(1, 2), word(2, 18)], speech))[1]).toEqual([2, 2 + longest]);
  });

  test("begins late, if it is the first of its speech", () => {
    expect(times(fitToPauses([word(0, 16), word(16, 16.5)], speech))[0]).toEqual([16 - longest, 16]);
  });

  test("is one anybody can take two seconds for, and of many letters longer", () => {
    const long = { ...word(3, 6), word: "Donaudampfschifffahrt" };
    expect(times(fitToPauses([word(0.1, 2.1), long], speech))).toEqual([
      [0, 2.1],
      [3, 6],
    ]);
  });
});

test("are in order, not overlapping, inside the media, in whole milliseconds and never empty, whatever was recognized", () => {
  const anyWord = fc
    .record({
      start: fc.double({ min: -2, max: 100, noNaN: true }),
      length: fc.double({ min: 0, max: 3, noNaN: true }),
    })
    .map(({ start, length }) => word(start, start + length));
  fc.assert(
    fc.property(
      fc.array(anyWord, { maxLength: 60 }),
      fc.integer({ min: 0, max: 100_000 }),
      (words, milliseconds) => {
        const duration = milliseconds / 1000;
        const shortest = Math.min(40, Math.floor(milliseconds / words.length));
        let free = 0;
        for (const { start, end } of removeOverlaps(words, duration)) {
          expect(start).toBeGreaterThanOrEqual(free);
          expect(Math.round(1000 * (end - start))).toBeGreaterThanOrEqual(shortest);
          expect(end).toBeLessThanOrEqual(duration);
          expect([start, end]).toEqual([start, end].map((seconds) => Number(seconds.toFixed(3))));
          free = end;
        }
      },
    ),
  );
});

test("words that are in order already keep their times", () => {
  const words = [word(0.1, 0.4), word(0.4, 0.9), word(2, 2.5)];
  expect(removeOverlaps(words, 3)).toEqual(words);
});
