import fc from "fast-check";
import { expect, test } from "vitest";
import { type AlignmentInput, alignTokens } from "../../src/alignment/align-tokens.ts";
import { quietFrames } from "../../src/alignment/loudness.ts";
import { timedWords } from "../../src/alignment/timed-words.ts";

/** Attention of one head that rests on `spans[step]` while it writes the step's token. */
function attentive(spans: readonly [start: number, end: number][], frames: number): AlignmentInput {
  const attention = new Float32Array(spans.length * frames).fill(0.001);
  for (const [step, [start, end]] of spans.entries()) {
    attention.fill(0.1, step * frames + start, step * frames + end);
  }
  return {
    attention,
    steps: spans.length,
    frames,
    attentionFrames: frames,
    wordStarts: spans.map(() => true),
    quiet: new Float32Array(frames),
    onsets: null,
    letters: null,
  };
}

const quietAt = (input: AlignmentInput, from: number, to: number) => {
  input.quiet.fill(1, from, to);
  return input;
};

test("gives a token the frames that were attended to", () => {
  const spans = alignTokens(
    attentive(
      [
        [0, 10],
        [10, 25],
        [25, 30],
      ],
      30,
    ),
  );
  expect(spans).toEqual([
    { start: 0, end: 10 },
    { start: 10, end: 25 },
    { start: 25, end: 30 },
  ]);
});

test("assigns the silence before, between and after words to no word", () => {
  const input = attentive(
    [
      [20, 30],
      [50, 60],
    ],
    80,
  );
  const spans = alignTokens(quietAt(quietAt(quietAt(input, 0, 20), 30, 50), 60, 80));
  expect(spans).toEqual([
    { start: 20, end: 30 },
    { start: 50, end: 60 },
  ]);
});

test("does not rest inside a word", () => {
  const input = attentive(
    [
      [0, 10],
      [30, 40],
    ],
    40,
  );
  const spans = alignTokens({ ...quietAt(input, 10, 30), wordStarts: [true, false] });
  expect(spans[0]?.end).toBe(spans[1]?.start);
});

test("starts a word at the likely onset next to the frames that were attended to, and inside a frame", () => {
  const input = attentive(
    [
      [0, 10],
      [10, 20],
    ],
    20,
  );
  const onsets = new Float32Array(20).fill(-4);
  onsets[0] = 4;
  onsets.fill(1, 12, 14);
  const [first, second] = alignTokens({ ...input, onsets });
  expect(second?.start).toBeCloseTo(13, 1);
  expect(first?.end).toBe(second?.start);
  // Onsets count only if a word starts.
  expect(alignTokens({ ...input, onsets, wordStarts: [true, false] })[1]?.start).toBe(10);
});

test("divides frames between tokens by their letters if the attention does not say where one ends", () => {
  const input = attentive(
    [
      [0, 30],
      [0, 30],
    ],
    30,
  );
  const [first, second] = alignTokens({ ...input, letters: [1, 3] });
  expect(first).toEqual({ start: 0, end: 10 });
  expect(second).toEqual({ start: 10, end: 30 });
});

test("ignores the frames that only fill up a batch", () => {
  const input = attentive([[0, 10]], 40);
  input.attention.fill(5, 20);
  expect(alignTokens({ ...input, frames: 15 })[0]?.end).toBeLessThanOrEqual(15);
});

const inputs = fc
  .record({
    steps: fc.integer({ min: 0, max: 12 }),
    heads: fc.integer({ min: 1, max: 3 }),
    frames: fc.integer({ min: 1, max: 40 }),
    padding: fc.integer({ min: 0, max: 5 }),
  })
  .chain(({ steps, heads, frames, padding }) =>
    fc.record({
      attention: fc.float32Array({
        minLength: steps * heads * (frames + padding),
        maxLength: steps * heads * (frames + padding),
        min: 0,
        max: 1,
        noNaN: true,
      }),
      steps: fc.constant(steps),
      frames: fc.constant(frames),
      attentionFrames: fc.constant(frames + padding),
      wordStarts: fc.array(fc.boolean(), { minLength: steps, maxLength: steps }),
      quiet: fc.float32Array({ minLength: frames, maxLength: frames, min: 0, max: 1, noNaN: true }),
      onsets: fc.option(
        fc.float32Array({ minLength: frames, maxLength: frames, min: -40, max: 40, noNaN: true }),
      ),
      letters: fc.option(fc.array(fc.nat({ max: 20 }), { minLength: steps, maxLength: steps })),
    }),
  );

test("whatever the attention, tokens have frames of their own, in order, inside the utterance", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const spans = alignTokens(input);
      expect(spans).toHaveLength(input.steps);
      let earliest = 0;
      for (const { start, end } of spans) {
        expect(start).toBeGreaterThanOrEqual(earliest);
        expect(end).toBeGreaterThan(start);
        earliest = end;
      }
      expect(earliest).toBeLessThanOrEqual(input.frames + 1e-9);
    }),
  );
});

const spans = fc
  .array(fc.tuple(fc.double({ min: 0, max: 90, noNaN: true }), fc.double({ min: 0, max: 9, noNaN: true })), {
    maxLength: 30,
  })
  .map((pairs) =>
    pairs.toSorted(([a], [b]) => a - b).map(([start, length]) => ({ start, end: start + length })),
  );

test("whatever the frames, words have a length, in order, inside the utterance", () => {
  fc.assert(
    fc.property(spans, fc.double({ min: 0.01, max: 3, noNaN: true }), (tokenSpans, seconds) => {
      const words = timedWords({
        words: tokenSpans.map((_, token) => ({ text: `w${token}`, firstToken: token, endToken: token + 1 })),
        spans: tokenSpans,
        logProbabilities: tokenSpans.map(() => -1),
        start: 10,
        seconds,
        secondsPerFrame: 0.024,
        correction: 0.005,
      });
      let earliest = 10;
      for (const { start, end, confidence } of words) {
        expect(start).toBeGreaterThanOrEqual(earliest);
        expect(end).toBeGreaterThan(start);
        expect(confidence).toBeCloseTo(Math.exp(-1));
        earliest = end;
      }
      expect(earliest).toBeLessThanOrEqual(10 + seconds + 1e-9);
    }),
  );
});

test("separates speech from silence and noise, but not music", () => {
  const layout = { length: 400, offset: 0 };
  const tone = (from: number, to: number, level: number) =>
    Float32Array.from({ length: 40_000 }, (_, i) =>
      i >= from && i < to ? level * Math.sin(i / 3) : 0.002 * Math.sin(i / 7),
    );
  const speech = quietFrames(tone(16_000, 32_000, 0.3), 100, layout);
  expect(speech.slice(45, 75).every((quiet) => quiet < 0.05)).toBe(true);
  expect(speech.slice(0, 35).every((quiet) => quiet > 0.95)).toBe(true);
  const steady = quietFrames(tone(0, 40_000, 0.3), 100, layout);
  expect(steady.every((quiet) => quiet === 0)).toBe(true);
});
