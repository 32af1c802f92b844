/**
 * How quiet each frame of an utterance is, beside the utterance itself: 0 where somebody speaks, 1 where
 * nobody does. Finer in time than voice activity (which finds the utterances), so it can place the edges
 * of words at pauses.
 */

/** How a model's frames lie on the samples: frame i stands for `[offset + i·length, offset + (i+1)·length)`. */
export interface FrameLayout {
  /** Samples. */
  length: number;
  /** Samples; half the reach of the model's convolutions. */
  offset: number;
}

const WINDOW_SAMPLES = 400;
/** Decibels below the loud parts beyond which loudness tells nothing more about speech. */
const SPEECH_RANGE = 35;
/** Where between quiet and loud a frame counts as half quiet, and how sharply, decibels. */
const HALF_QUIET_SHARE = 0.4;
const SHARPNESS = 2;
/** With less than this between the loud and the quiet parts (music, noise), loudness tells nothing … */
const MIN_RANGE = 6;
/** … and with this much it is trusted in full. */
const TRUSTED_RANGE = 14;

/** The levels that stand for loud and quiet: shares of an utterance's frames, from the softest. */
const LOUD_SHARE = 0.9;
const QUIET_SHARE = 0.05;

/**
 * How far the loud parts of an utterance stand out of its quiet ones, decibels: of made speech and its stops
 * and pauses 35 and more, with noise under it (20, 10, 5, 0 dB) about as many decibels and five more.
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

/** @param samples At 16 kHz. */
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
