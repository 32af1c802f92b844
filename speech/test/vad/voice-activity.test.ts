import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silence } from "../../src/media/audio.ts";
import {
  openVoiceActivityDetector,
  type ScoredAudio,
  scoreAudio,
  speechSegments,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
  WINDOW_SECONDS,
} from "../../src/vad/voice-activity.ts";
import { nonSpeech } from "../support/sounds.ts";
import { sequence, theChildren, theWeather } from "../support/wav.ts";

const signal = new AbortController().signal;
let voiceActivity: VoiceActivityDetector;

beforeAll(async () => {
  voiceActivity = await openVoiceActivityDetector({ threads: 1 });
});
afterAll(() => voiceActivity.close());

async function score(samples: Float32Array, chunkSamples = 10_000): Promise<ScoredAudio[]> {
  async function* chunks() {
    for (let at = 0; at < samples.length; at += chunkSamples) yield samples.subarray(at, at + chunkSamples);
  }
  const scored: ScoredAudio[] = [];
  for await (const audio of scoreAudio(chunks(), (block, preceding) =>
    voiceActivity.probabilities(block, preceding, signal),
  )) {
    scored.push({ ...audio, samples: audio.samples.slice() });
  }
  return scored;
}

async function segmentsOf(samples: Float32Array) {
  const scored = await score(samples);
  const probabilities = Float32Array.from(scored.flatMap((audio) => [...audio.probabilities]));
  return speechSegments(probabilities).map(({ start, end }) => ({
    start: start * WINDOW_SECONDS,
    end: end * WINDOW_SECONDS,
  }));
}

describe("what is not speech is not recognized as speech", () => {
  for (const [name, samples] of Object.entries(nonSpeech(20))) {
    test(name, async () => {
      expect(await segmentsOf(samples)).toEqual([]);
    });
  }
});

test("speech begins and ends if it does, within 100 ms, before and after a pause", async () => {
  const segments = await segmentsOf(sequence(2, theWeather, 1.5, theChildren, 1));
  const weatherEnds = 2 + theWeather.length / 16_000;
  const childrenEnd = weatherEnds + 1.5 + theChildren.length / 16_000;
  const expected = [2, weatherEnds, weatherEnds + 1.5, childrenEnd];
  const found = segments.flatMap(({ start, end }) => [start, end]);
  expect(found).toHaveLength(4);
  for (const [index, seconds] of found.entries())
    expect(Math.abs(seconds - expected[index]!)).toBeLessThan(0.1);
});

test("speech is transcribed at every place of a long recording, also where segments and blocks meet", async () => {
  const sentences = Array.from({ length: 55 }, () => [theWeather, 1.37, theChildren, 2.11]).flat();
  const recording = sequence(...sentences);
  expect(recording.length / 16_000).toBeGreaterThan(300);
  const segments = await segmentsOf(recording);
  let at = 0;
  for (const part of sentences) {
    if (typeof part === "number") {
      at += part;
      continue;
    }
    const middle = at + part.length / 32_000;
    expect(segments.filter(({ start, end }) => start < middle && middle < end)).toHaveLength(1);
    at += part.length / 16_000;
  }
});

test("the samples come out as they went in, filled up to a whole window", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20_000 }),
      fc.integer({ min: 1, max: 5_000 }),
      async (length, chunkSamples) => {
        const samples = Float32Array.from({ length }, (_, index) => Math.sin(index));
        const [audio] = await score(samples, chunkSamples);
        expect(audio!.samples.subarray(0, length)).toEqual(samples);
        expect(audio!.samples.length).toBe(Math.ceil(length / WINDOW_SAMPLES) * WINDOW_SAMPLES);
        expect(audio!.probabilities.length).toBe(Math.ceil(length / WINDOW_SAMPLES));
      },
    ),
    { numRuns: 10 },
  );
});

test("silence that comes as a number of samples comes out as zeros, whatever was in the block before", async () => {
  const parts = Array.from({ length: 90 }, (_, index) => ({
    sound: ((index * 7919) % 60_000) + 1,
    pause: ((index * 104_729) % 200_000) + 1,
  }));
  const expected = sequence(
    ...parts.flatMap(({ sound, pause }) => [new Float32Array(sound).fill(0.5), new Float32Array(pause)]),
  );
  async function* chunks() {
    for (const { sound, pause } of parts) {
      yield new Float32Array(sound).fill(0.5);
      yield* silence(pause);
    }
  }
  let at = 0;
  for await (const { samples } of scoreAudio(
    chunks(),
    async (block) => new Float32Array(block.length / 512),
  )) {
    const length = Math.min(samples.length, expected.length - at);
    const differs = samples.findIndex((sample, index) => sample !== (expected[at + index] ?? 0));
    expect(differs).toBe(-1);
    at += length;
  }
  expect(at).toBe(expected.length);
});

test("an aborted signal ends detection", async () => {
  const aborted = AbortSignal.abort(new Error("enough"));
  const listening = voiceActivity.probabilities(
    new Float32Array(WINDOW_SAMPLES),
    new Float32Array(0),
    aborted,
  );
  await expect(listening).rejects.toThrow("enough");
});

const probabilities = fc
  .array(fc.constantFrom(0, 0.1, 0.34, 0.36, 0.45, 0.49, 0.5, 0.7, 1), { maxLength: 200 })
  .map((values) => Float32Array.from(values));

describe("segments", () => {
  test("are in order, apart by at least 96 ms, and at least 192 ms long unless they may continue", () => {
    fc.assert(
      fc.property(probabilities, (values) => {
        let free = -3;
        for (const { start, end } of speechSegments(values)) {
          expect(start - free).toBeGreaterThanOrEqual(3);
          expect(end - start).toBeGreaterThanOrEqual(values.length - end < 3 ? 1 : 6);
          free = end;
        }
        expect(free).toBeLessThanOrEqual(values.length);
      }),
    );
  });

  test("begin with likely speech and hold no 96 ms of unlikely speech", () => {
    fc.assert(
      fc.property(probabilities, (values) => {
        for (const { start, end } of speechSegments(values)) {
          expect(values[start]).toBeGreaterThanOrEqual(0.5);
          expect(values[end - 1]).toBeGreaterThanOrEqual(Math.fround(0.35));
          const inside = values.subarray(start, end);
          const mean = inside.reduce((sum, value) => sum + value, 0) / inside.length;
          expect(values.length - end < 3 || inside.length > 32 || mean >= 0.65 - 1e-6).toBe(true);
          for (let at = 0; at + 3 <= inside.length; at++) {
            expect(Math.max(...inside.subarray(at, at + 3))).toBeGreaterThanOrEqual(Math.fround(0.35));
          }
        }
      }),
    );
  });

  test("begin at 0.5 and last until the probability stays below 0.35", () => {
    const values = new Float32Array(60);
    values.fill(0.49, 2, 10).fill(0.5, 10, 11).fill(0.9, 11, 20).fill(0.36, 20, 50).fill(0.34, 50);
    expect(speechSegments(values)).toEqual([{ start: 10, end: 50 }]);
  });

  test("of less than a second are speech only if that is likely, longer ones anyway", () => {
    const turn = (probability: number, windows: number) => {
      const values = new Float32Array(windows + 20);
      return speechSegments(values.fill(probability, 10, 10 + windows));
    };
    expect(turn(0.6, 20)).toEqual([]);
    expect(turn(0.7, 20)).toEqual([{ start: 10, end: 30 }]);
    expect(turn(0.6, 40)).toEqual([{ start: 10, end: 50 }]);
  });

  test("leave out no 192 ms of likely speech", () => {
    fc.assert(
      fc.property(probabilities, (values) => {
        const segments = speechSegments(values);
        for (let at = 0; at + 6 <= values.length; at++) {
          if (Math.min(...values.subarray(at, at + 6)) < 0.7) continue;
          // Beside a doubtful sound of up to a second it may go with it.
          const around = [...values.subarray(Math.max(0, at - 32), at + 38)];
          if (around.some((value) => value >= 0.35 && value < 0.65)) continue;
          expect(segments.some(({ start, end }) => start <= at && at + 6 <= end)).toBe(true);
        }
      }),
    );
  });
});
