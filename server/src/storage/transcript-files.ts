import type { FileFormat } from "@subtext/client/contract/transcription";

/**
 * Returns the key prefix of an attempt's files. Each attempt has its own, so attempts cannot overwrite each other's
 * files.
 */
export function filePrefix(transcriptionId: string, attempt: number): string {
  return `${TRANSCRIPTS_PREFIX}${transcriptionId}/${attempt}`;
}

export const TRANSCRIPTS_PREFIX = "transcripts/";

export function fileKey(prefix: string, format: FileFormat): string {
  return `${prefix}/transcript.${format}`;
}

/** The words' confidences, in the order of the JSON file: numbers from 0 to 1, or null. */
export function confidenceKey(prefix: string): string {
  return `${prefix}/confidence.json`;
}

/** The recording's `Waveform`, which can exist without a transcript. */
export function waveformKey(prefix: string): string {
  return `${prefix}/waveform.json`;
}

/** Returns the attempt that wrote a file; null if the key is not that of a transcript file. */
export function parseFileKey(
  key: string,
): { transcriptionId: string; attempt: number; prefix: string } | null {
  const match = /^transcripts\/([A-Za-z0-9_]+)\/(\d+)\/[^/]+$/.exec(key);
  if (!match?.[1] || !match[2]) return null;
  const attempt = Number(match[2]);
  return { transcriptionId: match[1], attempt, prefix: filePrefix(match[1], attempt) };
}
