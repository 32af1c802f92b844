import { SAMPLE_RATE } from "../media/audio.ts";
import { findBackground, levelOf } from "./background.ts";

/** Audio below this level, dBFS, is raised; that of ordinary recordings is above it … */
const QUIET_DB = -30;
/** … to this level. */
const TARGET_DB = -22;
/** Limits the gain, so that the noise of a converter does not become loud. */
const MAX_GAIN_DB = 45;
/** How far around a second its loudness counts: pauses and quiet words between loud ones are not raised. */
const CONTEXT_SECONDS = 5;
/** With less between its loud and its quiet parts, it is steady noise, and is not raised. Speech varies by more. */
const MIN_RANGE_DB = 12;
/** About as long as the windows of voice activity detection, and a whole number of them is a second. */
const FRAME_SAMPLES = 500;
const FRAMES_PER_SECOND = SAMPLE_RATE / FRAME_SAMPLES;
/** The shares of a second's frames that are louder than its loud and than its quiet level. */
const LOUDER_SHARE = 0.1;
const QUIET_SHARE = 0.9;

/**
 * Raises quiet audio in place, because voice activity detection and the bundled engine miss speech below about
 * −50 dBFS. The gain follows the loud parts of some seconds, so background noise keeps its distance to speech. Audio
 * with speech at an ordinary level, and steady noise, are not changed.
 */
export function raiseQuietAudio(samples: Float32Array): void {
  const seconds = secondLevels(samples);
  const background = findBackground(seconds.flatMap(({ levels }) => levels));
  const gains = seconds.map((_, second) => {
    const frames = background.slice(second * FRAMES_PER_SECOND, (second + 1) * FRAMES_PER_SECOND);
    if (!frames.includes(false)) return 0;
    return gainOf(seconds.slice(Math.max(0, second - CONTEXT_SECONDS), second + CONTEXT_SECONDS + 1));
  });
  // The rest of the last second is too short to measure.
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
  /** Of each frame, in order. */
  levels: number[];
  /** Decibels; minus infinity for digital silence. */
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
    seconds.push({ levels, loud: at(LOUDER_SHARE), quiet: at(QUIET_SHARE) });
  }
  return seconds;
}

/** Returns the gain for the second in the middle, decibels ≥ 0. */
function gainOf(around: readonly SecondLevels[]): number {
  const loudest = around.map(({ loud }) => loud).toSorted((a, b) => b - a);
  // The second highest: a knock on the microphone is no speech.
  const level = loudest[1] ?? loudest[0]!;
  const range = level - Math.min(...around.map(({ quiet }) => quiet));
  // For digital silence, the range is not a number.
  return level < QUIET_DB && range >= MIN_RANGE_DB ? Math.min(MAX_GAIN_DB, TARGET_DB - level) : 0;
}
