import { InferenceSession } from "onnxruntime-node";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { SAMPLE_RATE, silence } from "../../src/media/audio.ts";
import { findBackground, levelOf } from "../../src/vad/background.ts";
import {
  openVoiceActivityDetector,
  scoreAudio,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../src/vad/voice-activity.ts";
import { steadyNoise } from "../support/sounds.ts";
import { sequence, theChildren, theWeather } from "../support/wav.ts";

const { signal } = new AbortController();
/** Longer than the block in which audio is scored. */
const FIVE_MINUTES = 300;
let voiceActivity: VoiceActivityDetector;

beforeAll(async () => {
  voiceActivity = await openVoiceActivityDetector({ threads: 1 });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => voiceActivity.close());

/** Counts the runs of the model while it scores samples, which may come in several chunks. */
async function score(...samples: Float32Array[]) {
  const { prototype } = InferenceSession as unknown as { prototype: InferenceSession };
  const run = vi.spyOn(prototype, "run");
  async function* chunks() {
    yield* samples;
  }
  const blocks = scoreAudio(chunks(), (block, preceding) =>
    voiceActivity.probabilities(block, preceding, signal),
  );
  const probabilities: number[] = [];
  for await (const block of blocks) probabilities.push(...block.probabilities);
  const inferences = run.mock.calls.length;
  run.mockRestore();
  return { inferences, probabilities };
}

function levelsOf(samples: Float32Array): number[] {
  return Array.from({ length: Math.floor(samples.length / WINDOW_SAMPLES) }, (_, window) =>
    levelOf(samples.subarray(window * WINDOW_SAMPLES, (window + 1) * WINDOW_SAMPLES)),
  );
}

function attenuated(samples: Float32Array, decibels: number): Float32Array {
  return samples.map((sample) => sample * 10 ** (-decibels / 20));
}

describe("voice activity detection runs no inference", () => {
  test("over digital silence", async () => {
    const { inferences, probabilities } = await score(sequence(FIVE_MINUTES));
    expect(inferences).toBe(0);
    expect(probabilities).toEqual(new Array(Math.ceil((FIVE_MINUTES * 16_000) / WINDOW_SAMPLES)).fill(0));
  });

  test.each(["white noise", "pink noise", "mains hum"] as const)(
    "over steady %s at −60 dBFS",
    async (kind) => {
      expect((await score(steadyNoise(kind, -60, FIVE_MINUTES))).inferences).toBe(0);
    },
  );

  test("over the padding between two timestamps, however far apart they are", async () => {
    const beep = Float32Array.from({ length: 4 * WINDOW_SAMPLES }, (_, index) => Math.sin(index / 5));
    const padded = (seconds: number) => score(beep, ...silence(seconds * SAMPLE_RATE), beep);
    // States after silence are computed once.
    for (const seconds of [FIVE_MINUTES, 3600]) await padded(seconds);
    const { inferences } = await padded(FIVE_MINUTES);
    expect(inferences).toBeGreaterThan(0);
    expect((await padded(3600)).inferences).toBe(inferences);
  });

  test("over the silence between short sounds, except right after each", async () => {
    const beep = Float32Array.from({ length: 4 * WINDOW_SAMPLES }, (_, index) => Math.sin(index / 5));
    const minute = sequence(beep, 59);
    const beeps = sequence(...new Array(9).fill(minute));
    // States after silence are computed once.
    await score(beeps);
    const { inferences } = await score(beeps);
    expect(inferences).toBeLessThan(9 * 30);
  });
});

test("steady noise at −40 dBFS and clean speech at any volume are not background", () => {
  expect(findBackground(levelsOf(steadyNoise("white noise", -40, 60)))).not.toContain(true);
  for (const decibels of [0, 20, 40, 60]) {
    const quiet = attenuated(sequence(theWeather, 0.7, theChildren, 0.7, theWeather), decibels);
    expect(findBackground(levelsOf(quiet))).not.toContain(true);
  }
});

test("background begins half a second after a sound and ends with the next", () => {
  const silence = new Array<number>(200).fill(Number.NEGATIVE_INFINITY);
  const background = findBackground([...silence, -20, ...silence, -20, ...silence.slice(0, 90)]);
  const runs = background.map((is, window) => (is ? window : -1)).filter((window) => window >= 0);
  const expected = [...background.keys()].filter((window) => window < 200 || (window > 216 && window < 401));
  expect(runs).toEqual(expected);
});

test("speech after long silence is scored as at the beginning of a recording", async () => {
  const pause = WINDOW_SAMPLES * 400;
  const start = await score(sequence(theWeather, 1));
  const later = await score(
    sequence(theChildren, new Float32Array(pause - theChildren.length), theWeather, 1),
  );
  const windows = Math.floor(theWeather.length / WINDOW_SAMPLES);
  for (let window = 0; window < windows; window++) {
    expect(later.probabilities[400 + window]).toBeCloseTo(start.probabilities[window]!, 4);
  }
});

test("speech before steady noise is scored as if the noise were scored too", async () => {
  const recording = steadyNoise("pink noise", -62, 30);
  for (const [index, sample] of sequence(4, theWeather).entries()) recording[index]! += sample;
  const endsInClick = recording.slice();
  endsInClick[endsInClick.length - 1] = 0.9;
  const skipped = await score(recording);
  const whole = await score(endsInClick);
  expect(skipped.inferences).toBeLessThan(whole.inferences / 2);
  const spoken = Math.ceil((4 * 16_000 + theWeather.length) / WINDOW_SAMPLES);
  expect(skipped.probabilities.slice(0, spoken + 16)).toEqual(whole.probabilities.slice(0, spoken + 16));
  expect(Math.max(...whole.probabilities.slice(spoken + 16))).toBeLessThan(0.35);
});
