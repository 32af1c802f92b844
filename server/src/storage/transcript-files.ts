import type { FileFormat } from "@subtext/client/contract/transcription";

/**
 * Returns the folder of an attempt's files. Attempts have separate folders, so they cannot damage each other's files.
 */
export function filePrefix(transcriptionId: string, attempt: number): string {
  return `${TRANSCRIPTS_PREFIX}${transcriptionId}/${attempt}`;
}

export const TRANSCRIPTS_PREFIX = "transcripts/";

export function fileKey(prefix: string, format: FileFormat): string {
  return `${prefix}/transcript.${format}`;
}

/** The confidences of the words in the JSON file: an array with a number, 0 … 1, or null for each word. */
export function confidenceKey(prefix: string): string {
  return `${prefix}/confidence.json`;
}

/** The `Waveform` of the recording, which can exist without a transcript. */
export function waveformKey(prefix: string): string {
  return `${prefix}/waveform.json`;
}

/** Returns the owner of a file by its key; null if the key is not a transcript's. */
export function ownerOf(key: string): { transcriptionId: string; attempt: number; prefix: string } | null {
  const match = /^transcripts\/([A-Za-z0-9_]+)\/(\d+)\/[^/]+$/.exec(key);
  if (!match?.[1] || !match[2]) return null;
  const attempt = Number(match[2]);
  return { transcriptionId: match[1], attempt, prefix: filePrefix(match[1], attempt) };
}
