import { stat } from "node:fs/promises";

/**
 * The containers that are read, by the demuxers' names. A name that is not here (playlists, session
 * descriptions, lists of files, pictures) is refused before a byte of it is followed.
 */
export const CONTAINERS = "mov,mp4,matroska,webm,mpegts,avi,ogg,wav,mp3,aac,flac";

export const SAMPLE_RATE = 16_000;

/** A picture of more pixels is not decoded when headers are read: 16k × 16k frames take 0.7 GB. */
export const MAX_PIXELS = 36_000_000;

/** An honest file of 12 hours takes 60 MB (ffmpeg) or 150 MB (node-av). */
export const MEMORY_BYTES = 1_500_000_000;

/** Share of the recording's length that decoding may take; measured is 1/400 on one slow core. */
const DECODE_TIME_SHARE = 1 / 10;
/** Slow disks read this much, bytes a second. */
const SLOWEST_DISK = 20_000_000;
const LEAST_SECONDS = 60;

/** Seconds that a decoder may compute, or be waited for, until a file of these bytes and seconds is decoded. */
export function patience(bytes: number, durationSeconds: number): number {
  return Math.ceil(LEAST_SECONDS + bytes / SLOWEST_DISK + durationSeconds * DECODE_TIME_SHARE);
}

/** @throws the system's own error where the file is not there: that is no fault of the recording. */
export async function fileBytes(path: string): Promise<number> {
  return (await stat(path)).size;
}
