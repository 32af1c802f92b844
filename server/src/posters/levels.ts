import type { Waveform } from "@subtext/speech/waveform";

const LEVELS = 40;

/**
 * Reduces a waveform to a few levels of equal duration, as hexadecimal digits. The loudest level is `f`, so that quiet
 * recordings have a visible shape too. Returns null for silence.
 */
export function posterLevels({ peaks: base64 }: Pick<Waveform, "peaks">): string | null {
  const peaks = Buffer.from(base64, "base64");
  const count = Math.min(LEVELS, peaks.length);
  const means = Array.from({ length: count }, (_, index) => {
    const span = peaks.subarray(
      Math.floor((index * peaks.length) / count),
      Math.floor(((index + 1) * peaks.length) / count),
    );
    return span.reduce((sum, peak) => sum + peak, 0) / span.length;
  });
  const loudest = Math.max(...means);
  if (!(loudest > 0)) return null;
  return means.map((mean) => Math.round((15 * mean) / loudest).toString(16)).join("");
}
