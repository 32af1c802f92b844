import fc from "fast-check";
import { expect, test } from "vitest";
import { packUtterances, type SpokenUtterance, type UtteranceGroup } from "../../src/vad/utterances.ts";
import {
  type ScoredAudio,
  speechSegments,
  WINDOW_SAMPLES,
  WINDOW_SECONDS,
} from "../../src/vad/voice-activity.ts";

const PADDING_SECONDS = 5 * WINDOW_SECONDS;

/** Speech and silence in turns, with the flicker of a real model in between. */
const turns = fc.array(
  fc.record({
    probability: fc.constantFrom(0, 0.02, 0.2, 0.4, 0.6, 0.97),
    windows: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 300 })),
  }),
  { maxLength: 60 },
);
const probabilitiesOf = fc
  .tuple(turns, fc.integer({ min: 1, max: 1_000_000 }))
  .map(([parts, seed]) => Float32Array.from(flicker(parts, seed)));
const maxWindows = fc.integer({ min: 40, max: 625 });

function* flicker(parts: readonly { probability: number; windows: number }[], seed: number) {
  let state = seed;
  for (const { probability, windows } of parts) {
    for (let window = 0; window < windows; window++) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      yield Math.min(1, Math.max(0, probability + (state / 2 ** 31 - 0.5) * 0.1));
    }
  }
}

/** Audio whose samples say which window they are in. */
function scored(probabilities: Float32Array, blockWindows: number): ScoredAudio[] {
  const blocks: ScoredAudio[] = [];
  for (let first = 0; first < probabilities.length; first += blockWindows) {
    const part = probabilities.subarray(first, first + blockWindows);
    const samples = new Float32Array(part.length * WINDOW_SAMPLES);
    for (let window = 0; window < part.length; window++) {
      samples.fill(first + window, window * WINDOW_SAMPLES, (window + 1) * WINDOW_SAMPLES);
    }
    blocks.push({ samples, probabilities: part });
  }
  return blocks;
}

async function pack(probabilities: Float32Array, limit: number, blockWindows = 7_504) {
  const groups: UtteranceGroup[] = [];
  async function* source() {
    yield* scored(probabilities, blockWindows);
  }
  for await (const group of packUtterances(source(), limit * WINDOW_SECONDS)) groups.push(group);
  return groups;
}

async function utterancesOf(probabilities: Float32Array, limit: number, blockWindows?: number) {
  return (await pack(probabilities, limit, blockWindows)).flatMap(({ utterances }) => utterances);
}

const endOf = ({ start, samples }: SpokenUtterance) =>
  start + (samples.length / WINDOW_SAMPLES) * WINDOW_SECONDS;
const windowOf = (seconds: number) => Math.round(seconds / WINDOW_SECONDS);

test("utterances come in order, do not overlap and are no longer than allowed", async () => {
  await fc.assert(
    fc.asyncProperty(probabilitiesOf, maxWindows, async (probabilities, limit) => {
      let end = 0;
      for (const utterance of await utterancesOf(probabilities, limit)) {
        expect(windowOf(utterance.start)).toBeGreaterThanOrEqual(windowOf(end));
        expect(utterance.samples.length).toBeLessThanOrEqual(limit * WINDOW_SAMPLES);
        end = endOf(utterance);
      }
      expect(windowOf(end)).toBeLessThanOrEqual(probabilities.length);
    }),
  );
});

test("every window of speech is in exactly one utterance, and each speaks if the segments say", async () => {
  await fc.assert(
    fc.asyncProperty(probabilitiesOf, maxWindows, async (probabilities, limit) => {
      const expected: number[] = [];
      for (const { start, end } of speechSegments(probabilities)) {
        for (let window = start; window < end; window++) expected.push(window);
      }
      const covered: number[] = [];
      for (const { speech } of await utterancesOf(probabilities, limit)) {
        for (const { start, end } of speech) {
          for (let window = windowOf(start); window < windowOf(end); window++) covered.push(window);
        }
      }
      expect(covered).toEqual(expected);
    }),
  );
});

test("an utterance holds the samples that stand at its start", async () => {
  await fc.assert(
    fc.asyncProperty(probabilitiesOf, maxWindows, async (probabilities, limit) => {
      for (const { samples, start } of await utterancesOf(probabilities, limit)) {
        expect(samples[0]).toBe(windowOf(start));
        expect(samples.at(-1)).toBe(windowOf(start) + samples.length / WINDOW_SAMPLES - 1);
      }
    }),
  );
});

test("utterances are the same however the audio comes in", async () => {
  await fc.assert(
    fc.asyncProperty(
      probabilitiesOf,
      maxWindows,
      fc.integer({ min: 1, max: 2_000 }),
      async (probabilities, limit, blockWindows) => {
        const inBlocks = await utterancesOf(probabilities, limit, blockWindows);
        expect(inBlocks).toEqual(await utterancesOf(probabilities, limit));
      },
    ),
    { numRuns: 60 },
  );
});

test("what is settled never contains speech that is still to come", async () => {
  await fc.assert(
    fc.asyncProperty(probabilitiesOf, maxWindows, async (probabilities, limit) => {
      let settled = 0;
      for (const { utterances, settledSeconds } of await pack(probabilities, limit, 100)) {
        for (const { start } of utterances) expect(start).toBeGreaterThanOrEqual(settled);
        expect(settledSeconds).toBeGreaterThanOrEqual(settled);
        settled = settledSeconds;
      }
      expect(windowOf(settled)).toBe(probabilities.length);
    }),
    { numRuns: 60 },
  );
});

test("speech without a pause is cut if it is least likely to be speech", async () => {
  const probabilities = new Float32Array(900).fill(0.95);
  probabilities.fill(0.6, 420, 423);
  const [first, second] = await utterancesOf(probabilities, 500);
  expect(windowOf(endOf(first!))).toBe(421);
  expect(windowOf(second!.start)).toBe(421);
});

test("of several pauses late in an utterance the longest ends it", async () => {
  const probabilities = new Float32Array(800).fill(0.95);
  probabilities.fill(0, 300, 320);
  probabilities.fill(0, 400, 408);
  const [first] = await utterancesOf(probabilities, 500);
  expect(first!.speech.map(({ end }) => windowOf(end))).toEqual([300]);
});

test("a long silence ends an utterance, a short one stays inside it with its audio", async () => {
  const probabilities = new Float32Array(400).fill(0.95);
  probabilities.fill(0, 100, 130);
  probabilities.fill(0, 200, 300);
  const utterances = await utterancesOf(probabilities, 500);
  expect(utterances.map(({ speech }) => speech.length)).toEqual([2, 1]);
  expect(endOf(utterances[0]!) - utterances[0]!.speech.at(-1)!.end).toBeCloseTo(PADDING_SECONDS);
});

test("an hour of silence gives no utterance", async () => {
  expect(await utterancesOf(new Float32Array(112_500).fill(0.01), 500)).toEqual([]);
});
