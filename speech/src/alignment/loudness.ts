/** Maps a model's frames to samples: frame i covers `[offset + i·length, offset + (i+1)·length)`. */
export interface FrameLayout {
  length: number;
  /** Half the receptive field of the model's convolutions. */
  offset: number;
}

const WINDOW_SAMPLES = 400;
/** Levels more than this below the loud parts count as equally quiet. */
const SPEECH_RANGE_DB = 35;
/** The level that counts as half quiet: 0 is that of the quiet parts, 1 that of the loud parts. */
const HALF_QUIET = 0.4;
const TRANSITION_DB = 2;
/** If loud and quiet parts differ by less, as in music and noise, loudness does not indicate speech. */
const MIN_RANGE_DB = 6;
/** At or above this difference, loudness is fully trusted. */
const TRUSTED_RANGE_DB = 14;

/** Quantiles of the levels that define loud and quiet. */
const LOUD_QUANTILE = 0.9;
const QUIET_QUANTILE = 0.05;

/**
 * Returns the difference between the loud and the quiet parts of an utterance in decibels. It is at least 35 for clean
 * speech, and about the signal-to-noise ratio plus 5 for noisy speech.
 * @param samples at 16 kHz
 */
export function loudnessRange(samples: Float32Array): number {
  const loudness: number[] = [];
  for (let from = 0; from + WINDOW_SAMPLES <= samples.length; from += WINDOW_SAMPLES) {
    loudness.push(decibels(samples, from));
  }
  const sorted = loudness.toSorted((a, b) => a - b);
  return quantile(sorted, LOUD_QUANTILE) - quantile(sorted, QUIET_QUANTILE);
}

/**
 * Returns how quiet each frame is compared with the rest of the utterance: 0 (speech) … 1 (silence). The time resolution
 * is finer than that of voice activity detection, so it locates the edges of words at pauses.
 * @param samples at 16 kHz
 */
export function quietFrames(samples: Float32Array, frames: number, layout: FrameLayout): Float32Array {
  const loudness = new Float32Array(frames);
  for (let frame = 0; frame < frames; frame++) {
    const middle = layout.offset + (frame + 0.5) * layout.length;
    loudness[frame] = decibels(samples, Math.round(middle - WINDOW_SAMPLES / 2));
  }
  const sorted = loudness.toSorted();
  const loud = quantile(sorted, LOUD_QUANTILE);
  const quiet = Math.max(quantile(sorted, QUIET_QUANTILE), loud - SPEECH_RANGE_DB);
  const trust = Math.min(1, Math.max(0, (loud - quiet - MIN_RANGE_DB) / (TRUSTED_RANGE_DB - MIN_RANGE_DB)));
  const half = quiet + HALF_QUIET * (loud - quiet);
  return loudness.map((level) => trust / (1 + Math.exp((level - half) / TRANSITION_DB)));
}

function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
}

function decibels(samples: Float32Array, from: number): number {
  const start = Math.min(samples.length, Math.max(0, from));
  const end = Math.min(samples.length, Math.max(0, from + WINDOW_SAMPLES));
  let energy = 0;
  for (let i = start; i < end; i++) energy += (samples[i] as number) ** 2;
  return 10 * Math.log10(energy / Math.max(1, end - start) + 1e-10);
}
