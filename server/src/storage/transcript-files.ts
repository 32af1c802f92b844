import type { FileFormat } from "@subtext/client/contract/transcription";
import type { TranscriptionRow } from "../db/tables/transcriptions.ts";

/**
 * Returns the key prefix of an attempt's files. Each attempt has its own, so attempts cannot overwrite each other's
 * files.
 */
export function filePrefix(transcriptionId: string, attempt: number): string {
  return `${TRANSCRIPTS_PREFIX}${transcriptionId}/${attempt}`;
}

/**
 * Returns the key prefix of the files of a save. Concurrent saves of the same version have different prefixes.
 * @param version the transcription's `edit_version` after the save
 * @param random letters and digits
 */
export function editPrefix(
  transcriptionId: string,
  { version, savedAt, random }: { version: number; savedAt: Date; random: string },
): string {
  return `${TRANSCRIPTS_PREFIX}${transcriptionId}/edit-${version}-${savedAt.getTime()}-${random}`;
}

/** Returns the key prefix of the current transcript's files; null until COMPLETED. */
export function currentPrefix({
  edited_prefix,
  file_prefix,
}: Pick<TranscriptionRow, "edited_prefix" | "file_prefix">): string | null {
  return edited_prefix ?? file_prefix;
}

export const TRANSCRIPTS_PREFIX = "transcripts/";

export function fileKey(prefix: string, format: FileFormat): string {
  return `${prefix}/transcript.${format}`;
}

/** The words' confidences, in the order of the JSON file: numbers from 0 to 1, or null. */
export function confidenceKey(prefix: string): string {
  return `${prefix}/confidence.json`;
}

/** The words' channels, in the order of the JSON file. Exists only if the recording has one speaker per channel. */
export function channelsKey(prefix: string): string {
  return `${prefix}/channels.json`;
}

/** The words of an edited transcript with speakers, confidences and channels; see `words-file.ts`. */
export function wordsKey(prefix: string): string {
  return `${prefix}/words.json`;
}

/** The recording's `Waveform`, which can exist without a transcript. */
export function waveformKey(prefix: string): string {
  return `${prefix}/waveform.json`;
}

/** A JPEG file with a frame of the video, which can exist without a transcript. */
export function posterKey(prefix: string): string {
  return `${prefix}/poster.jpg`;
}

/** Returns the save that wrote a file; null if the key is not that of a file of an edited transcript. */
export function parseEditKey(
  key: string,
): { transcriptionId: string; version: number; savedAt: Date; prefix: string } | null {
  const match = /^(transcripts\/([A-Za-z0-9_]+)\/edit-(\d+)-(\d+)-[A-Za-z0-9]+)\/[^/]+$/.exec(key);
  if (!match) return null;
  const [, prefix = "", transcriptionId = "", version, savedAt] = match;
  return { transcriptionId, version: Number(version), savedAt: new Date(Number(savedAt)), prefix };
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
