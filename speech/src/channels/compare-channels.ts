import { FLOOR_DB, FRAMES_PER_SECOND } from "./channel-levels.ts";

/** Levels of two channels, frame by frame. */
export type LevelPair = readonly [Float32Array, Float32Array];

export interface Activity {
  /** Seconds in which only the first or only the second channel is active. */
  aloneSeconds: readonly [number, number];
  /** Seconds in which both are active. */
  overlapSeconds: number;
  /** Share of the less active channel's activity during which the other one is active too. */
  overlapShare: number;
}

/** Leakage is this much quieter than the other channel, each relative to its own speech level … */
const RELATIVE_LEAKAGE_DB = 12;
/** … or this much quieter in absolute terms, which matters if one speaker is much quieter than the other. */
const ABSOLUTE_LEAKAGE_DB = 16;
/** Leakage may be delayed by up to this many frames. */
const LEAKAGE_FRAMES = 2;
/** An active channel is at most this far below its speech level, and at least halfway between background and speech. */
const SPEECH_RANGE_DB = 15;
/** If background and speech level are closer than this, the channel contains steady noise and is never active. */
const MIN_RANGE_DB = 8;
/** A channel is never active below this level, dBFS. */
const QUIETEST_DB = -60;
/** Share of the frames that are quieter than the background level. */
const BACKGROUND_SHARE = 0.1;
/** An echo or a copy of the channel may be delayed by this much. */
const MAX_DELAY_SECONDS = 2;
/**
 * The mean over this time before and after is subtracted from each level, because turns of similar length would
 * otherwise correlate.
 */
const MEAN_SECONDS = 0.5;
/** The levels are compared over this range below the speech level. The rest is background. */
const COMPARED_RANGE_DB = 15;
/** Frames before and after an active one that are active too, because words contain short gaps. */
const GAP_FRAMES = 1;

/** Returns how long the channels are active alone and together, not counting leakage from the other channel. */
export function compareActivity(levels: LevelPair): Activity {
  const [first, second] = activeFrames(levels);
  const frames = { first: 0, second: 0, both: 0 };
  for (let frame = 0; frame < first.length; frame++) {
    if (first[frame] && second[frame]) frames.both++;
    else if (first[frame]) frames.first++;
    else if (second[frame]) frames.second++;
  }
  const lessActive = frames.both + Math.min(frames.first, frames.second);
  return {
    aloneSeconds: [frames.first / FRAMES_PER_SECOND, frames.second / FRAMES_PER_SECOND],
    overlapSeconds: frames.both / FRAMES_PER_SECOND,
    overlapShare: lessActive === 0 ? 1 : frames.both / lessActive,
  };
}

/**
 * Returns the level that half of the channel's energy exceeds, dBFS. It hardly depends on how much of the time somebody
 * speaks.
 */
function speechLevel(levels: Float32Array): number {
  const sorted = levels.toSorted();
  const total = sorted.reduce((sum, level) => sum + power(level), 0);
  let energy = 0;
  for (let index = sorted.length - 1; index >= 0; index--) {
    energy += power(sorted[index]!);
    if (energy >= total / 2) return sorted[index]!;
  }
  return FLOOR_DB;
}

function activeFrames(levels: LevelPair): [Uint8Array, Uint8Array] {
  const leakage = findLeakage(levels);
  const active = (own: 0 | 1) => {
    const threshold = activityThreshold(levels[own]);
    const frames = new Uint8Array(levels[own].length);
    for (const [frame, level] of levels[own].entries()) {
      if (level < threshold || leakage[own][frame]) continue;
      frames.fill(1, Math.max(0, frame - GAP_FRAMES), frame + GAP_FRAMES + 1);
    }
    return frames;
  };
  return [active(0), active(1)];
}

/** For each channel, returns 1 for the frames that contain only leakage from the other channel. */
export function findLeakage(levels: LevelPair): [Uint8Array, Uint8Array] {
  const speech = levels.map(speechLevel) as [number, number];
  const leaks = (own: 0 | 1) => {
    const [mine, other] = [levels[own], levels[1 - own]!];
    // A frame that is quieter than the other channel by at least this much is leakage.
    const allowed = Math.min(ABSOLUTE_LEAKAGE_DB, speech[1 - own]! - speech[own] + RELATIVE_LEAKAGE_DB);
    const frames = new Uint8Array(mine.length);
    for (let frame = 0; frame < frames.length; frame++) {
      const loudest = Math.max(...other.subarray(Math.max(0, frame - LEAKAGE_FRAMES), frame + 1));
      if (loudest - mine[frame]! >= allowed) frames[frame] = 1;
    }
    return frames;
  };
  return [leaks(0), leaks(1)];
}

function activityThreshold(levels: Float32Array): number {
  const speech = speechLevel(levels);
  const background = levels.toSorted()[Math.floor(BACKGROUND_SHARE * levels.length)] ?? FLOOR_DB;
  if (speech - background < MIN_RANGE_DB) return Number.POSITIVE_INFINITY;
  return Math.max(QUIETEST_DB, speech - SPEECH_RANGE_DB, (speech + background) / 2);
}

/** Returns the highest correlation of the channels' levels at delays of up to two seconds. Copies and echoes correlate. */
export function highestCorrelation(levels: LevelPair): number {
  const leakage = findLeakage(levels);
  const [first, second] = [compared(levels[0], leakage[0]), compared(levels[1], leakage[1])];
  const limit = Math.min(MAX_DELAY_SECONDS * FRAMES_PER_SECOND, Math.floor(first.length / 2));
  let highest = -1;
  for (let delay = -limit; delay <= limit; delay++) {
    const [from, to] = [Math.max(0, delay), Math.min(first.length, first.length + delay)];
    highest = Math.max(
      highest,
      correlationOf(first.subarray(from, to), second.subarray(from - delay, to - delay)),
    );
  }
  return highest;
}

/** Returns the levels relative to their mean over a second, without background and leakage. */
function compared(levels: Float32Array, leakage: Uint8Array): Float32Array {
  const speech = speechLevel(levels);
  const limited = levels.map((level, frame) =>
    leakage[frame] === 1 ? -COMPARED_RANGE_DB : Math.min(0, Math.max(-COMPARED_RANGE_DB, level - speech)),
  );
  const reach = MEAN_SECONDS * FRAMES_PER_SECOND;
  return limited.map((level, frame) => {
    const around = limited.subarray(Math.max(0, frame - reach), frame + reach + 1);
    return level - around.reduce((sum, each) => sum + each, 0) / around.length;
  });
}

/** Returns Pearson's coefficient; 0 if one of the lists is constant. */
function correlationOf(a: Float32Array, b: Float32Array): number {
  const count = a.length;
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let index = 0; index < count; index++) {
    const [x, y] = [a[index]!, b[index]!];
    sumA += x;
    sumB += y;
    squaresA += x * x;
    squaresB += y * y;
    products += x * y;
  }
  const variances = (squaresA - sumA ** 2 / count) * (squaresB - sumB ** 2 / count);
  return variances <= 1e-9 ? 0 : (products - (sumA * sumB) / count) / Math.sqrt(variances);
}

function power(level: number): number {
  return level <= FLOOR_DB ? 0 : 10 ** (level / 10);
}
