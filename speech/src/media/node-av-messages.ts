import type { DecodeRequest, Inspection, PictureRequest } from "./backend.ts";

/** Request to the child process, passed as JSON in its first argument. */
export type NodeAvRequest =
  | { kind: "version" }
  | { kind: "inspect"; path: string }
  | { kind: "measure"; path: string }
  | ({ kind: "decode"; path: string } & Pick<DecodeRequest, "stream" | "channels" | "trackChannels">)
  | ({ kind: "pictures"; path: string } & Omit<PictureRequest, "signal">);

/** Reply over the IPC channel. Decoded blocks and pictures are written to standard output. */
export type NodeAvReply =
  | { kind: "version"; ffmpeg: string }
  | { kind: "inspection"; inspection: Inspection }
  | { kind: "length"; seconds: number }
  | { kind: "decoded"; failedPackets: number }
  | { kind: "pictured" }
  /** The file could not be opened. The reason is on standard error. */
  | { kind: "unopenable" }
  | { kind: "failed"; message: string }
  /** The package is installed, but its native code cannot be loaded. */
  | { kind: "unloadable"; message: string };

/** Header of a block, little-endian: seconds (64-bit float, NaN if unknown), then size in bytes (32-bit integer). */
export const BLOCK_HEADER_BYTES = 12;
