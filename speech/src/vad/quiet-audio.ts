import { SAMPLE_RATE } from "../media/audio.ts";
import { findBackground, levelOf } from "./background.ts";

/** Audio below this level, dBFS, is amplified. Ordinary recordings are louder. */
const QUIET_DB = -30;
/** Level after the gain, dBFS. */
const TARGET_DB = -22;
/** Limits the gain, so noise from an analog-to-digital converter does not become loud. */
const MAX_GAIN_DB = 45;
/** The gain for a second depends on the seconds around it, so pauses and quiet words between loud ones stay quiet. */
const CONTEXT_SECONDS = 5;
/** With a smaller difference between loud and quiet parts, the sound is steady noise and is not amplified. */
const MIN_RANGE_DB = 12;
/** About the length of a window of voice activity detection, but a divisor of a second. */
const FRAME_SAMPLES = 500;
const FRAMES_PER_SECOND = SAMPLE_RATE / FRAME_SAMPLES;
/** Share of a second's frames that are louder than its loud level. */
const LOUD_SHARE = 0.1;
/** Share of a second's frames that are louder than its quiet level. */
const QUIET_SHARE = 0.9;

/**
 * Amplifies quiet audio in place, because voice activity detection and the bundled engine miss speech below about −50
 * dBFS.
 * The gain follows the loud parts, so the distance between speech and background noise stays the same. Speech at an
 * ordinary level and steady noise are not changed.
 */
export function amplifyQuietAudio(samples: Float32Array): void {
  const seconds = secondLevels(samples);
  const background = findBackground(seconds.flatMap(({ levels }) => levels));
  const gains = seconds.map((_, second) => {
    const frames = background.slice(second * FRAMES_PER_SECOND, (second + 1) * FRAMES_PER_SECOND);
    if (!frames.includes(false)) return 0;
    return gainOf(seconds.slice(Math.max(0, second - CONTEXT_SECONDS), second + CONTEXT_SECONDS + 1));
  });
  // An incomplete last second is not measured.
  gains.push(gains.at(-1) ?? 0);
  for (const [second, gain] of gains.entries()) {
    const next = gains[second + 1] ?? gain;
    if (gain === 0 && next === 0) continue;
    const part = samples.subarray(second * SAMPLE_RATE, (second + 1) * SAMPLE_RATE);
    for (const [index, sample] of part.entries()) {
      const factor = 10 ** ((gain + ((next - gain) * index) / SAMPLE_RATE) / 20);
      part[index] = Math.min(1, Math.max(-1, sample * factor));
    }
  }
}

interface SecondLevels {
  levels: number[];
  /** dBFS; minus infinity for digital silence. */
  loud: number;
  quiet: number;
}

function secondLevels(samples: Float32Array): SecondLevels[] {
  const seconds: SecondLevels[] = [];
  for (let from = 0; from + SAMPLE_RATE <= samples.length; from += SAMPLE_RATE) {
    const levels: number[] = [];
    const second = samples.subarray(from, from + SAMPLE_RATE);
    for (let start = 0; start < second.length; start += FRAME_SAMPLES) {
      levels.push(levelOf(second.subarray(start, start + FRAME_SAMPLES)));
    }
    const sorted = levels.toSorted((a, b) => b - a);
    const at = (share: number) => sorted[Math.floor(share * sorted.length)]!;
    seconds.push({ levels, loud: at(LOUD_SHARE), quiet: at(QUIET_SHARE) });
  }
  return seconds;
}

/** Returns the gain for the second in the middle in decibels, at least 0. */
function gainOf(around: readonly SecondLevels[]): number {
  const loudest = around.map(({ loud }) => loud).toSorted((a, b) => b - a);
  // The second highest level ignores a knock on the microphone.
  const level = loudest[1] ?? loudest[0]!;
  const range = level - Math.min(...around.map(({ quiet }) => quiet));
  // For digital silence, the range is NaN.
  return level < QUIET_DB && range >= MIN_RANGE_DB ? Math.min(MAX_GAIN_DB, TARGET_DB - level) : 0;
}
