import { SAMPLE_RATE } from "../media/audio.ts";
import { findBackground, levelOf } from "./background.ts";

/** Audio below this level, dBFS, is amplified. Ordinary recordings are louder. */
const QUIET_DB = -30;
/**
 * Just below `QUIET_DB`, the gain rises by this many decibels per decibel. With a jump of 8 dB at the limit, recordings
 * near it switched between two levels, and the bundled engine made more errors.
 */
const GAIN_SLOPE = 2;
/** Level after the gain, dBFS. */
const TARGET_DB = -22;
/** Limits the gain, so noise from an analog-to-digital converter does not become loud. */
const MAX_GAIN_DB = 45;
/** No frame is amplified above this level, dBFS. Limits knocks and the remains of louder speech. */
const MAX_RAISED_DB = TARGET_DB + 10;
/** The gain for a second depends on the seconds around it, so pauses and quiet words between loud ones stay quiet. */
const CONTEXT_SECONDS = 5;
/** With a smaller difference between loud and quiet parts, the sound is steady noise and is not amplified. */
const MIN_RANGE_DB = 12;
/** About the length of a window of voice activity detection, but a divisor of a second. */
const FRAME_SAMPLES = 500;
const FRAMES_PER_SECOND = SAMPLE_RATE / FRAME_SAMPLES;
/** In the turn of a quiet speaker, every frame is at least this much below the recording's loud frames, decibels. */
const TURN_DISTANCE_DB = 20;
/** Share of a recording's frames that are louder than its loud level. */
const LOUDEST_SHARE = 0.05;
/** A turn whose frames are all below this level, dBFS, counts as quiet even in a recording that is not loud. */
const MAX_TURN_DB = -42;
/** A turn is amplified if its loud parts are at least this much below the limit for its frames, decibels. */
const TURN_MARGIN_DB = 6;
/** A shorter gap between louder frames is a pause of the same speaker. */
const MIN_TURN_FRAMES = 1.5 * FRAMES_PER_SECOND;
/** After a loud frame, reverberation fades out. */
const REVERBERATION_FRAMES = 0.5 * FRAMES_PER_SECOND;
/** The gain of a turn rises after the last louder frame and falls before the next one. */
const RISE_FRAMES = 0.25 * FRAMES_PER_SECOND;
const FALL_FRAMES = 4;
/** Share of a second's frames that are louder than its loud level. */
const LOUD_SHARE = 0.1;
/** Share of a second's frames that are louder than its quiet level. */
const QUIET_SHARE = 0.9;

/**
 * Amplifies quiet audio in place, because voice activity detection and the bundled engine miss speech below about −50
 * dBFS.
 *
 * The gain follows the loud parts, so the distance between speech and background noise stays the same. The turns of a
 * quiet speaker between those of a loud one have their own gain. Speech at an ordinary level and steady noise are not
 * changed.
 */
export function amplifyQuietAudio(samples: Float32Array): void {
  const levels: number[] = [];
  for (let from = 0; from < samples.length; from += FRAME_SAMPLES) {
    levels.push(levelOf(samples.subarray(from, from + FRAME_SAMPLES)));
  }
  const background = findBackground(levels);
  const gains = gainsOf(levels, background, QUIET_DB, GAIN_SLOPE);
  const turnDb = Math.max(MAX_TURN_DB, levelAbove(levels, LOUDEST_SHARE) - TURN_DISTANCE_DB);
  for (const { start, end } of findQuietTurns(levels, turnDb)) {
    const statistics = start + REVERBERATION_FRAMES;
    const turn = gainsOf(
      levels.slice(statistics, end),
      background.slice(statistics, end),
      turnDb - TURN_MARGIN_DB,
      Number.POSITIVE_INFINITY,
    );
    const first = new Array<number>(REVERBERATION_FRAMES).fill(turn[0]!);
    for (const [index, gain] of [...first, ...turn].entries()) {
      const share = Math.min(1, index / RISE_FRAMES, (end - start - 1 - index) / FALL_FRAMES);
      gains[start + index] = Math.max(gains[start + index]!, gain * share);
    }
  }
  if (gains.some((gain) => gain > 0)) applyGains(samples, levels, gains);
}

/** Returns the gain of each frame in decibels, given the levels of consecutive frames. */
function gainsOf(
  levels: readonly number[],
  background: readonly boolean[],
  quietDb: number,
  slope: number,
): number[] {
  const seconds = secondLevels(levels);
  const gains = seconds.map((_, second) => {
    const frames = background.slice(second * FRAMES_PER_SECOND, (second + 1) * FRAMES_PER_SECOND);
    if (!frames.includes(false)) return 0;
    return gainOf(
      seconds.slice(Math.max(0, second - CONTEXT_SECONDS), second + CONTEXT_SECONDS + 1),
      quietDb,
      slope,
    );
  });
  // An incomplete last second is not measured.
  const gainAt = (second: number) => gains[second] ?? gains.at(-1) ?? 0;
  return levels.map((_, frame) => {
    const second = Math.floor(frame / FRAMES_PER_SECOND);
    const share = (frame % FRAMES_PER_SECOND) / FRAMES_PER_SECOND;
    return gainAt(second) + (gainAt(second + 1) - gainAt(second)) * share;
  });
}

/** Finds gaps between frames at or above `turnDb` that are long enough for somebody else to speak. */
function findQuietTurns(levels: readonly number[], turnDb: number): { start: number; end: number }[] {
  const turns: { start: number; end: number }[] = [];
  let start = 0;
  for (let frame = 0; frame <= levels.length; frame++) {
    if (frame < levels.length && levels[frame]! < turnDb) continue;
    if (frame - start >= MIN_TURN_FRAMES) turns.push({ start, end: frame });
    start = frame + 1;
  }
  return turns;
}

function applyGains(samples: Float32Array, levels: readonly number[], gains: readonly number[]): void {
  const factors = gains.map(
    (gain, frame) => 10 ** (Math.max(0, Math.min(gain, MAX_RAISED_DB - levels[frame]!)) / 20),
  );
  for (const [frame, factor] of factors.entries()) {
    const step = ((factors[frame + 1] ?? factor) - factor) / FRAME_SAMPLES;
    if (factor === 1 && step === 0) continue;
    const part = samples.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES);
    for (let at = 0; at < part.length; at++) {
      part[at] = Math.min(1, Math.max(-1, part[at]! * (factor + step * at)));
    }
  }
}

interface SecondLevels {
  /** dBFS; minus infinity for digital silence. */
  loud: number;
  quiet: number;
}

function secondLevels(levels: readonly number[]): SecondLevels[] {
  const seconds: SecondLevels[] = [];
  for (let from = 0; from + FRAMES_PER_SECOND <= levels.length; from += FRAMES_PER_SECOND) {
    const second = levels.slice(from, from + FRAMES_PER_SECOND);
    seconds.push({ loud: levelAbove(second, LOUD_SHARE), quiet: levelAbove(second, QUIET_SHARE) });
  }
  return seconds;
}

/** Returns the level that this share of the frames exceeds. */
function levelAbove(levels: readonly number[], share: number): number {
  return levels.toSorted((a, b) => b - a)[Math.floor(share * levels.length)]!;
}

/** Returns the gain for the second in the middle in decibels, at least 0. */
function gainOf(around: readonly SecondLevels[], quietDb: number, slope: number): number {
  const loudest = around.map(({ loud }) => loud).toSorted((a, b) => b - a);
  // The second highest level ignores a knock on the microphone.
  const level = loudest[1] ?? loudest[0]!;
  const range = level - Math.min(...around.map(({ quiet }) => quiet));
  // For digital silence, the range is NaN.
  if (level >= quietDb || !(range >= MIN_RANGE_DB)) return 0;
  return Math.min(MAX_GAIN_DB, TARGET_DB - level, slope * (quietDb - level));
}
