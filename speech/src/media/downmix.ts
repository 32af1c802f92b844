import { SAMPLE_RATE } from "./audio.ts";

export interface Filter {
  name: string;
  options: string;
}

/** libswresample mixes by position (front left, center, …) up to this number of channels. */
const MAX_PLACED_CHANNELS = 8;

/**
 * Returns the filters that convert any track to one or two channels at 16 kHz. They do not fill gaps, because
 * `aresample=async=1` would keep a whole gap in memory: 1.6 GB for 50 minutes.
 */
export function downmixFilters(trackChannels: number, channels: 1 | 2): Filter[] {
  const layout = channels === 1 ? "mono" : "stereo";
  const filters = [
    { name: "aresample", options: `${SAMPLE_RATE}` },
    { name: "aformat", options: `sample_fmts=flt:channel_layouts=${layout}` },
  ];
  if (trackChannels <= MAX_PLACED_CHANNELS) return filters;
  const mix = `stereo|c0=${average(trackChannels, 0)}|c1=${average(trackChannels, 1)}`;
  return [{ name: "pan", options: mix }, ...filters];
}

/** Averages every second channel, beginning with `first`. */
function average(trackChannels: number, first: number): string {
  const numbers = Array.from({ length: trackChannels }, (_, i) => i).filter((i) => i % 2 === first);
  return numbers.map((i) => `${(1 / numbers.length).toFixed(4)}*c${i}`).join("+");
}
