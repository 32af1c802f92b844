import { SAMPLE_RATE } from "./limits.ts";

/** A filter of libavfilter with its options. */
export interface Filter {
  name: string;
  options: string;
}

/** Most channels whose places (front left, centre, …) libswresample knows how to mix. */
const MOST_PLACED_CHANNELS = 8;

/**
 * The filters, one after the other, that turn any track into one or two channels at 16 kHz. They fill no
 * gaps: `aresample=async=1` holds the whole of a gap in memory, 1.6 GB for 50 minutes of it.
 */
export function downmixFilters(trackChannels: number, channels: 1 | 2): Filter[] {
  const layout = channels === 1 ? "mono" : "stereo";
  const filters = [
    { name: "aresample", options: `${SAMPLE_RATE}` },
    { name: "aformat", options: `sample_fmts=flt:channel_layouts=${layout}` },
  ];
  if (trackChannels <= MOST_PLACED_CHANNELS) return filters;
  const mix = `stereo|c0=${average(trackChannels, 0)}|c1=${average(trackChannels, 1)}`;
  return [{ name: "pan", options: mix }, ...filters];
}

/** Every second channel, beginning with `first`. */
function average(trackChannels: number, first: number): string {
  const numbers = Array.from({ length: trackChannels }, (_, i) => i).filter((i) => i % 2 === first);
  return numbers.map((i) => `${(1 / numbers.length).toFixed(4)}*c${i}`).join("+");
}
