import type { SpeechSpan } from "../../alignment/fit-words.ts";
import { quietFrames } from "../../alignment/loudness.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";

/** Returns when a share of `[start, end]` (seconds) has passed: 0 at the start, 1 at the end. */
export type TimeOfShare = (start: number, end: number, share: number) => number;

export const evenly: TimeOfShare = (start, end, share) => start + (end - start) * share;

const FRAME_SAMPLES = 160;
/** Weight of a silent frame relative to a loud one: loudness may be misleading. */
const QUIET_SHARE = 0.02;

/**
 * Shares of the time in which an utterance is loud: pauses take almost none. For words whose sentence has
 * times but which have none themselves.
 * @param samples at 16 kHz
 * @param speech seconds of the utterance that contain speech, if known; everything else counts as a pause
 */
export function byLoudness(samples: Float32Array, speech?: readonly SpeechSpan[]): TimeOfShare {
  const frames = Math.floor(samples.length / FRAME_SAMPLES);
  const quiet = quietFrames(samples, frames, { length: FRAME_SAMPLES, offset: 0 });
  const isSpeech = (frame: number) => {
    const seconds = ((frame + 0.5) * FRAME_SAMPLES) / SAMPLE_RATE;
    return speech === undefined || speech.some(({ start, end }) => start <= seconds && seconds < end);
  };
  /** Cumulative loudness before each frame. */
  const before = new Float64Array(frames + 1);
  for (let frame = 0; frame < frames; frame++) {
    before[frame + 1] =
      (before[frame] as number) + 1 - (1 - QUIET_SHARE) * (isSpeech(frame) ? (quiet[frame] as number) : 1);
  }
  const spokenAt = (seconds: number) => {
    const place = Math.min(frames, Math.max(0, (seconds * SAMPLE_RATE) / FRAME_SAMPLES));
    const frame = Math.floor(place);
    const [from, to] = [before[frame] as number, (before[frame + 1] ?? before[frame]) as number];
    return evenly(from, to, place - frame);
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
 * Returns the index of the last value that is at most `limit`, by binary search; −1 if there is none.
 * @param values sorted in ascending order
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
