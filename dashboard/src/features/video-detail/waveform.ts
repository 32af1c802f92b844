import type { WaveformView } from "@subtext/server/admin/contract/video-detail";

export interface Waveform {
  /** Seconds. */
  duration: number;
  peaksPerSecond: number;
  /** Of 255. */
  peaks: Uint8Array;
  /** Seconds, in order. */
  speech: readonly (readonly [number, number])[];
}

export interface Bar {
  /** 0 … 1 */
  height: number;
  speech: boolean;
}

/** Shorter ones are breath. */
const PAUSE_SECONDS = 1;

export function readWaveform({ peaks, ...known }: WaveformView): Waveform {
  const binary = atob(peaks);
  return { ...known, peaks: Uint8Array.from(binary, (character) => character.charCodeAt(0)) };
}

/**
 * The waveform in so many bars: each as high as the loudest moment in it, against the loudest of all, and of
 * speech where somebody speaks in half of it.
 */
export function barsOf({ duration, peaksPerSecond, peaks, speech }: Waveform, count: number): Bar[] {
  const loudest = Math.max(1, maximum(peaks, 0, peaks.length));
  const seconds = duration / count;
  let next = 0;
  return Array.from({ length: count }, (_, index) => {
    const [start, end] = [index * seconds, (index + 1) * seconds];
    const from = Math.floor(start * peaksPerSecond);
    const to = Math.max(from + 1, Math.floor(end * peaksPerSecond));
    while (next < speech.length && speech[next]![1] <= start) next++;
    let spoken = 0;
    for (let each = next; each < speech.length && speech[each]![0] < end; each++) {
      spoken += Math.min(end, speech[each]![1]) - Math.max(start, speech[each]![0]);
    }
    return { height: maximum(peaks, from, to) / loudest, speech: spoken * 2 >= seconds && spoken > 0 };
  });
}

/** The waveform in words' stead: how much of it is speech, and how many pauses there are between. */
export function speechShare({ duration, speech }: Waveform): { share: number; pauses: number } {
  let seconds = 0;
  let pauses = 0;
  speech.forEach(([start, end], index) => {
    seconds += end - start;
    const before = speech[index - 1];
    if (before && start - before[1] >= PAUSE_SECONDS) pauses++;
  });
  return { share: duration > 0 ? Math.min(1, seconds / duration) : 0, pauses };
}

function maximum(values: Uint8Array, from: number, to: number): number {
  let most = 0;
  for (let index = from; index < Math.min(to, values.length); index++) most = Math.max(most, values[index]!);
  return most;
}
