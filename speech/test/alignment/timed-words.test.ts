import fc from "fast-check";
import { expect, test } from "vitest";
import { timedWords } from "../../src/alignment/timed-words.ts";

/** Five tokens of ten frames each, of 20 ms. */
const frames = {
  spans: [0, 10, 20, 30, 40].map((start) => ({ start, end: start + 10 })),
  logProbabilities: [-0.1, -0.2, -0.3, -0.4, -0.5],
  start: 100,
  seconds: 1,
  secondsPerFrame: 0.02,
  correction: 0,
};
const times = (words: readonly { start: number; end: number }[]) =>
  words.map(({ start, end }) => [Number(start.toFixed(6)), Number(end.toFixed(6))]);

test("a word lasts from its first token to its last", () => {
  const words = [
    { text: "Good", firstToken: 0, endToken: 1 },
    { text: "morning.", firstToken: 1, endToken: 4 },
  ];
  expect(times(timedWords({ ...frames, words }))).toEqual([
    [100, 100.2],
    [100.2, 100.8],
  ]);
});

test("words that share a token share its time", () => {
  const words = [
    { text: "今天", firstToken: 0, endToken: 2, spoken: { from: 0, to: 1.5 } },
    { text: "天气", firstToken: 1, endToken: 3, spoken: { from: 1.5, to: 3 } },
    { text: "很", firstToken: 3, endToken: 4, spoken: { from: 3, to: 3.25 } },
    { text: "好", firstToken: 3, endToken: 5, spoken: { from: 3.25, to: 4.5 } },
  ];
  expect(times(timedWords({ ...frames, words }))).toEqual([
    [100, 100.3],
    [100.3, 100.6],
    [100.6, 100.65],
    [100.65, 100.9],
  ]);
});

test("punctuation takes no time of the word", () => {
  const words = [{ text: "“Yes.”", firstToken: 0, endToken: 4, spoken: { from: 1, to: 2 } }];
  expect(times(timedWords({ ...frames, words }))).toEqual([[100.2, 100.4]]);
});

/** Words over one to three tokens each, the next one sharing the last of them or not. */
const spelled = fc
  .array(
    fc.record({
      tokens: fc.integer({ min: 1, max: 3 }),
      sharing: fc.boolean(),
      cut: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { maxLength: 20 },
  )
  .map((parts) => {
    let from = 0;
    return parts.map(({ tokens, sharing, cut }, index) => {
      const firstToken = Math.floor(from);
      const endToken = firstToken + tokens + 1;
      const word = {
        text: `w${index}`,
        firstToken,
        endToken,
        spoken: { from, to: sharing ? Math.max(from, endToken - 1 + cut) : endToken },
      };
      from = word.spoken.to;
      return word;
    });
  });

test("whatever the tokens' frames and shares, words have a length, in order, inside the utterance", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 82, maxLength: 82 });
  fc.assert(
    fc.property(spelled, steps, fc.double({ min: 0.01, max: 30, noNaN: true }), (words, lengths, seconds) => {
      let at = 0;
      const spans = lengths.map((length) => {
        at += length;
        return { start: at - length, end: at };
      });
      let earliest = 5;
      for (const { start, end } of timedWords({
        words,
        spans,
        logProbabilities: lengths.map(() => -1),
        start: 5,
        seconds,
        secondsPerFrame: 0.02,
        correction: 0.01,
      })) {
        expect(start).toBeGreaterThanOrEqual(earliest);
        expect(end).toBeGreaterThan(start);
        earliest = end;
      }
      expect(earliest).toBeLessThanOrEqual(5 + seconds + 1e-9);
    }),
  );
});
