import type { SpeechSpan } from "../../alignment/fit-words.ts";
import { quietFrames } from "../../alignment/loudness.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";

/** Maps a fraction of the text spoken between `start` and `end` to a time. All times are in seconds. */
export type TimeOfShare = (start: number, end: number, share: number) => number;

export const evenly: TimeOfShare = (start, end, share) => start + (end - start) * share;

const FRAME_SAMPLES = 160;
/** Weight of a silent frame relative to a loud one. Not 0, because loudness can mislead. */
const QUIET_WEIGHT = 0.02;

/**
 * Distributes text over the loud parts of an utterance. Pauses get almost no text.
 * @param samples at 16 kHz
 * @param speech spans in seconds from the start of the utterance; if given, everything else counts as a pause
 */
export function byLoudness(samples: Float32Array, speech?: readonly SpeechSpan[]): TimeOfShare {
  const frames = Math.floor(samples.length / FRAME_SAMPLES);
  const quiet = quietFrames(samples, frames, { length: FRAME_SAMPLES, offset: 0 });
  const isSpeech = (frame: number) => {
    const seconds = ((frame + 0.5) * FRAME_SAMPLES) / SAMPLE_RATE;
    return speech === undefined || speech.some(({ start, end }) => start <= seconds && seconds < end);
  };
  /** Total weight of all earlier frames. */
  const before = new Float64Array(frames + 1);
  for (let frame = 0; frame < frames; frame++) {
    before[frame + 1] =
      (before[frame] as number) + 1 - (1 - QUIET_WEIGHT) * (isSpeech(frame) ? (quiet[frame] as number) : 1);
  }
  const spokenAt = (seconds: number) => {
    const position = Math.min(frames, Math.max(0, (seconds * SAMPLE_RATE) / FRAME_SAMPLES));
    const frame = Math.floor(position);
    const [from, to] = [before[frame] as number, (before[frame + 1] ?? before[frame]) as number];
    return evenly(from, to, position - frame);
  };
  return (start, end, share) => {
    const wanted = evenly(spokenAt(start), spokenAt(end), share);
    const frame = Math.max(0, lastAtMost(before, wanted));
    const step = (before[frame + 1] ?? Number.POSITIVE_INFINITY) - (before[frame] as number);
    const seconds = ((frame + (wanted - (before[frame] as number)) / step) * FRAME_SAMPLES) / SAMPLE_RATE;
    return Math.min(end, Math.max(start, seconds));
  };
}

/**
 * Returns the index of the last value that is at most `limit`, or −1 if there is none. Uses binary search.
 * @param values in ascending order
 */
export function lastAtMost(values: ArrayLike<number>, limit: number): number {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((values[middle] as number) <= limit) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
