import { stat } from "node:fs/promises";

/**
 * Supported containers, by the demuxers' names. Anything else (playlists, session descriptions, file lists,
 * images) is rejected before a byte of it is followed.
 */
export const CONTAINERS = "mov,mp4,matroska,webm,mpegts,avi,ogg,wav,mp3,aac,flac";

/** Larger frames are not decoded when headers are read: 16k × 16k frames take 0.7 GB. */
export const MAX_PIXELS = 36_000_000;

/** A normal file of 12 hours takes 60 MB (ffmpeg) or 150 MB (node-av). */
export const MEMORY_BYTES = 1_500_000_000;

/** Maximum decoding time as a share of the recording's length; 1/400 was measured on one slow core. */
const DECODE_TIME_SHARE = 1 / 10;
/** Throughput of a slow disk, bytes per second. */
const SLOWEST_DISK = 20_000_000;
const LEAST_SECONDS = 60;

/** Limit for CPU time and waiting time of decoding a file of this size and duration. */
export function decodeTimeoutSeconds(bytes: number, durationSeconds: number): number {
  return Math.ceil(LEAST_SECONDS + bytes / SLOWEST_DISK + durationSeconds * DECODE_TIME_SHARE);
}

/** @throws the system's error if the file does not exist, because the recording is not at fault */
export async function fileBytes(path: string): Promise<number> {
  return (await stat(path)).size;
}
