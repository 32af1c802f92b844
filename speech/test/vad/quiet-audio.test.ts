import { expect, test } from "vitest";
import { levelOf } from "../../src/vad/background.ts";
import { amplifyQuietAudio } from "../../src/vad/quiet-audio.ts";

const RATE = 16_000;

/** Syllables: a tone that is loud for 0.2 s and 40 dB softer for 0.1 s. */
function syllables(seconds: number, decibels: number): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, index) => {
    const isLoud = (index / RATE) % 0.3 < 0.2;
    return 10 ** ((decibels - (isLoud ? 0 : 40)) / 20) * Math.SQRT2 * Math.sin(index / 5);
  });
}

function noise(seconds: number, decibels: number): Float32Array {
  let seed = 1;
  return Float32Array.from({ length: seconds * RATE }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 10 ** (decibels / 20) * Math.sqrt(3) * (seed / 1_073_741_824 - 1);
  });
}

function joined(...parts: Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

/** Of the loud part of a syllable. */
function levelAt(samples: Float32Array, second: number): number {
  const from = (Math.floor(second / 0.3) * 0.3 + 0.05) * RATE;
  return levelOf(samples.subarray(from, from + 0.1 * RATE));
}

test.each([-38, -50, -65])("speech at %d dBFS is raised to the level of ordinary speech", (decibels) => {
  const samples = syllables(20, decibels);
  amplifyQuietAudio(samples);
  for (const second of [1, 10, 19]) expect(levelAt(samples, second)).toBeCloseTo(-22, 0);
});

test("a speaker near the limit stays at nearly the same level", () => {
  const samples = joined(...[-29, -31].map((decibels) => syllables(12, decibels)));
  amplifyQuietAudio(samples);
  for (const second of [1, 11, 13, 16, 20]) {
    expect(levelAt(samples, second)).toBeGreaterThan(-31.5);
    expect(levelAt(samples, second)).toBeLessThan(-28.5);
  }
});

test("speech at an ordinary level, its pauses and quiet words between loud ones are not changed", () => {
  const samples = joined(syllables(5, -25), noise(3, -60), syllables(1, -45), syllables(5, -20));
  const before = samples.slice();
  amplifyQuietAudio(samples);
  expect(samples.every((sample, index) => sample === before[index])).toBe(true);
});

test("short turns of a quiet speaker are raised, and the turns of the loud one beside them are not changed", () => {
  const samples = joined(...[-20, -55, -20, -55, -20].map((decibels) => syllables(3, decibels)));
  amplifyQuietAudio(samples);
  for (const second of [1, 2.5, 7, 8.5, 13]) expect(levelAt(samples, second)).toBeCloseTo(-20, 0);
  for (const second of [4, 5.2, 10, 11.2]) expect(levelAt(samples, second)).toBeCloseTo(-22, 0);
});

test("a pause in which speech reverberates stays quiet", () => {
  const echo = noise(1, -25).map((sample, index) => sample * 10 ** ((-60 * index) / RATE / 20));
  const samples = joined(syllables(5, -20), echo, noise(2, -70), syllables(5, -20));
  const before = samples.slice();
  amplifyQuietAudio(samples);
  for (const second of [5.5, 6, 6.5, 7.5])
    expect(levelAt(samples, second)).toBeCloseTo(levelAt(before, second), 0);
});

test("a quiet speaker after a loud one is raised", () => {
  const samples = joined(syllables(21, -20), syllables(18, -50));
  amplifyQuietAudio(samples);
  expect(levelAt(samples, 5)).toBeCloseTo(-20, 0);
  expect(levelAt(samples, 35)).toBeCloseTo(-22, 0);
});

test("steady noise and digital silence are not raised", () => {
  for (const samples of [noise(20, -60), new Float32Array(20 * RATE)]) {
    const before = samples.slice();
    amplifyQuietAudio(samples);
    expect(samples).toEqual(before);
  }
});

test("a knock does not keep quiet speech quiet, and is not louder than full scale afterwards", () => {
  const samples = syllables(20, -50);
  samples.fill(0.9, 10 * RATE, 10.2 * RATE);
  amplifyQuietAudio(samples);
  expect(levelAt(samples, 12)).toBeCloseTo(-22, 0);
  expect(samples.every((sample) => Math.abs(sample) <= 1)).toBe(true);
});
