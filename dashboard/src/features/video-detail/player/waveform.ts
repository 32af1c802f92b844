import type { WaveformView } from "@subtext/server/admin/contract/video-detail";

export interface Waveform {
  /** In seconds. */
  duration: number;
  peaksPerSecond: number;
  /** 0 to 255. */
  peaks: Uint8Array;
  /** Start and end of each segment in seconds, in order. */
  speech: readonly (readonly [number, number])[];
}

export interface Bar {
  /** 0 … 1 */
  height: number;
  isSpeech: boolean;
}

const MIN_PAUSE_SECONDS = 1;

export function parseWaveform({ peaks, ...rest }: WaveformView): Waveform {
  const binary = atob(peaks);
  return { ...rest, peaks: Uint8Array.from(binary, (character) => character.charCodeAt(0)) };
}

/**
 * Divides the waveform into bars. Heights are relative to the highest peak of the recording. A bar counts as speech if
 * at least half of its duration is speech.
 */
export function computeBars({ duration, peaksPerSecond, peaks, speech }: Waveform, count: number): Bar[] {
  const loudest = Math.max(1, maximum(peaks, 0, peaks.length));
  const seconds = duration / count;
  let next = 0;
  return Array.from({ length: count }, (_, index) => {
    const [start, end] = [index * seconds, (index + 1) * seconds];
    const from = Math.floor(start * peaksPerSecond);
    const to = Math.max(from + 1, Math.floor(end * peaksPerSecond));
    while (next < speech.length && speech[next]![1] <= start) next++;
    let spoken = 0;
    for (let segment = next; segment < speech.length && speech[segment]![0] < end; segment++) {
      spoken += Math.min(end, speech[segment]![1]) - Math.max(start, speech[segment]![0]);
    }
    return { height: maximum(peaks, from, to) / loudest, isSpeech: spoken * 2 >= seconds && spoken > 0 };
  });
}

/** Returns the share of speech in the duration, and the number of pauses of at least one second between segments. */
export function speechShare({ duration, speech }: Waveform): { share: number; pauses: number } {
  let seconds = 0;
  let pauses = 0;
  speech.forEach(([start, end], index) => {
    seconds += end - start;
    const before = speech[index - 1];
    if (before && start - before[1] >= MIN_PAUSE_SECONDS) pauses++;
  });
  return { share: duration > 0 ? Math.min(1, seconds / duration) : 0, pauses };
}

function maximum(values: Uint8Array, from: number, to: number): number {
  let max = 0;
  for (let index = from; index < Math.min(to, values.length); index++) max = Math.max(max, values[index]!);
  return max;
}
