/** Background is quiet and steady for at least this many windows (3 s). */
const RUN_WINDOWS = 94;
/** Maximum level of background, dBFS. Noise of −60 dBFS is below it, and speech below it is not detected anyway. */
const LOUDEST_DB = -54;
/**
 * Maximum difference between the windows of a run. Over 3 s, white noise varies by 1 dB and pink noise by 10 dB, but clean
 * speech by at least 25 dB at any volume.
 */
const STEADY_RANGE_DB = 12;
/** On 2,568 cuts from speech to digital silence, the speech probability stayed above 0.35 for up to 8 windows. */
const TAIL_WINDOWS = 16;
/** Lower levels, below the least significant of 16 bits, are treated as this level. */
const FLOOR_DB = -90;

export const DIGITAL_SILENCE_DB = Number.NEGATIVE_INFINITY;

/** Returns the root mean square of the samples, dBFS. */
export function levelOf(samples: Float32Array): number {
  if (isZero(samples)) return DIGITAL_SILENCE_DB;
  let energy = 0;
  for (let at = 0; at < samples.length; at++) energy += samples[at]! * samples[at]!;
  return 10 * Math.log10(energy / samples.length);
}

function isZero(samples: Float32Array): boolean {
  for (let at = 0; at < samples.length; at++) if (samples[at] !== 0) return false;
  return true;
}

/**
 * Returns whether each window, given by its level, is background, i.e. digital silence or steady noise. The first half
 * second after other sound is excluded, because voice activity detection may still report speech there.
 */
export function findBackground(levels: readonly number[]): boolean[] {
  const steady = findSteady(levels);
  return steady.map(
    (_, window) => !steady.slice(Math.max(0, window - TAIL_WINDOWS), window + 1).includes(false),
  );
}

/** Returns whether each window, given by its level, is background that consists of digital silence. */
export function findSilence(levels: readonly number[]): boolean[] {
  return findBackground(levels.map((level) => (level === DIGITAL_SILENCE_DB ? level : LOUDEST_DB + 1)));
}

function findSteady(levels: readonly number[]): boolean[] {
  const steady = new Array<boolean>(levels.length).fill(false);
  for (let start = 0; start + RUN_WINDOWS <= levels.length; ) {
    const { breaking, softest, loudest } = lastBreak(levels, start, start + RUN_WINDOWS);
    if (breaking === null) {
      let end = start + RUN_WINDOWS;
      while (end < levels.length && isWithin(levels[end]!, softest, loudest)) end++;
      steady.fill(true, start, end);
      start = end + 1 - RUN_WINDOWS;
    } else start = breaking + 1;
  }
  return steady;
}

function isWithin(level: number, softest: number, loudest: number): boolean {
  const floored = Math.max(FLOOR_DB, level);
  return floored >= softest && floored <= loudest;
}

/** Returns the last window that, together with the later windows before `end`, is too loud or not steady. */
function lastBreak(levels: readonly number[], start: number, end: number) {
  let loudest = Number.NEGATIVE_INFINITY;
  let softest = Number.POSITIVE_INFINITY;
  for (let window = end - 1; window >= start; window--) {
    const level = Math.max(FLOOR_DB, levels[window]!);
    loudest = Math.max(loudest, level);
    softest = Math.min(softest, level);
    const breaks = loudest > LOUDEST_DB || loudest - softest > STEADY_RANGE_DB;
    if (breaks) return { breaking: window, softest, loudest };
  }
  return { breaking: null, softest, loudest };
}
