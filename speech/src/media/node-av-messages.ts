import type { DecodeRequest, Inspection } from "./backend.ts";

/** Request to the child, as JSON in its first argument. */
export type NodeAvRequest =
  | { kind: "version" }
  | { kind: "inspect"; path: string }
  | { kind: "measure"; path: string }
  | ({ kind: "decode"; path: string } & Pick<DecodeRequest, "stream" | "channels" | "trackChannels">);

/** Its reply over the IPC channel; decoded blocks are written to standard output. */
export type NodeAvReply =
  | { kind: "version"; ffmpeg: string }
  | { kind: "inspection"; inspection: Inspection }
  | { kind: "length"; seconds: number }
  | { kind: "decoded"; failedPackets: number }
  /** libav* could not open the file; the reason is on standard error. */
  | { kind: "unopenable" }
  | { kind: "failed"; message: string };

/** Header of every block: seconds as a 64-bit float (NaN for none), bytes as a 32-bit integer, little-endian. */
export const BLOCK_HEADER_BYTES = 12;
