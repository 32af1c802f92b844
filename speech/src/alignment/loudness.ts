/**
 * How quiet each frame of an utterance is, relative to the utterance: 0 for speech, 1 for silence. It has a
 * finer time resolution than voice activity detection, so it can locate the edges of words at pauses.
 */

/** Maps a model's frames to samples: frame i covers `[offset + i·length, offset + (i+1)·length)`. */
export interface FrameLayout {
  /** Samples. */
  length: number;
  /** Samples; half the receptive field of the model's convolutions. */
  offset: number;
}

const WINDOW_SAMPLES = 400;
/** Decibels below the loud parts; anything softer counts as equally quiet. */
const SPEECH_RANGE = 35;
/** The position between quiet and loud of a frame that counts as half quiet, and the steepness in decibels. */
const HALF_QUIET_SHARE = 0.4;
const SHARPNESS = 2;
/** If loud and quiet parts differ by less than this (music, noise), loudness says nothing about speech … */
const MIN_RANGE = 6;
/** … and from this difference on it is fully trusted. */
const TRUSTED_RANGE = 14;

/** Quantiles of the frames' levels that define loud and quiet. */
const LOUD_SHARE = 0.9;
const QUIET_SHARE = 0.05;

/**
 * Difference between the loud and the quiet parts of an utterance, decibels: 35 and more for clean synthetic
 * speech, with noise (20, 10, 5, 0 dB) about the signal-to-noise ratio plus five.
 * @param samples At 16 kHz.
 */
export function loudnessRange(samples: Float32Array): number {
  const loudness: number[] = [];
  for (let from = 0; from + WINDOW_SAMPLES <= samples.length; from += WINDOW_SAMPLES) {
    loudness.push(decibels(samples, from));
  }
  const sorted = loudness.toSorted((a, b) => a - b);
  return levelAt(sorted, LOUD_SHARE) - levelAt(sorted, QUIET_SHARE);
}

/**
 * Returns how quiet each frame is, 0 … 1.
 * @param samples At 16 kHz.
 */
export function quietFrames(samples: Float32Array, frames: number, layout: FrameLayout): Float32Array {
  const loudness = new Float32Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const middle = layout.offset + (frame + 0.5) * layout.length;
    loudness[frame] = decibels(samples, Math.round(middle - WINDOW_SAMPLES / 2));
  }
  const sorted = loudness.toSorted();
  const loud = levelAt(sorted, LOUD_SHARE);
  const quiet = Math.max(levelAt(sorted, QUIET_SHARE), loud - SPEECH_RANGE);
  const trust = Math.min(1, Math.max(0, (loud - quiet - MIN_RANGE) / (TRUSTED_RANGE - MIN_RANGE)));
  const half = quiet + HALF_QUIET_SHARE * (loud - quiet);
  return loudness.map((level) => trust / (1 + Math.exp((level - half) / SHARPNESS)));
}

function levelAt(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

function decibels(samples: Float32Array, from: number): number {
  const start = Math.min(samples.length, Math.max(0, from));
  const end = Math.min(samples.length, Math.max(0, from + WINDOW_SAMPLES));
  let energy = 0;
  for (let i = start; i < end; i++) energy += (samples[i] as number) ** 2;
  return 10 * Math.log10(energy / Math.max(1, end - start) + 1e-10);
}
