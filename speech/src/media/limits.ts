import { stat } from "node:fs/promises";

/** Demuxers of supported containers. Others are rejected, because playlists could refer to other files. */
export const CONTAINERS = "mov,mp4,matroska,webm,mpegts,avi,ogg,wav,mp3,aac,flac";

/** Larger video frames are not decoded, because a frame of 16k × 16k pixels takes 0.7 GB. */
export const MAX_PIXELS = 36_000_000;

/** Memory limit of a decoder. A normal file of 12 hours needs 60 MB (ffmpeg) or 150 MB (node-av). */
export const MEMORY_BYTES = 1_500_000_000;

/** Maximum decoding time as a share of the recording's duration. On one slow core, 1/400 was measured. */
const MAX_DECODE_TIME_SHARE = 1 / 10;
const SLOW_DISK_BYTES_PER_SECOND = 20_000_000;
const BASE_TIMEOUT_SECONDS = 60;

/** Returns the limit for the CPU time and the waiting time of decoding a file. */
export function decodeTimeoutSeconds(bytes: number, durationSeconds: number): number {
  return Math.ceil(
    BASE_TIMEOUT_SECONDS + bytes / SLOW_DISK_BYTES_PER_SECOND + durationSeconds * MAX_DECODE_TIME_SHARE,
  );
}

/** Returns the limit for pictures. It is higher, because pictures are decoded at a low priority. */
export function pictureTimeoutSeconds(bytes: number): number {
  return 3 * decodeTimeoutSeconds(bytes, 0);
}

/** @throws the system's error (not a SpeechError) if the file does not exist */
export async function fileBytes(path: string): Promise<number> {
  return (await stat(path)).size;
}
