import type { ChunkFormat } from "./chunker.ts";

/** The two channels of a chunk of audio. Both have the same length. */
export type ChannelPair = readonly [first: Float32Array, second: Float32Array];

/** Chunk format that keeps both channels of a track separate instead of mixing them. */
export const SEPARATE_CHANNELS: ChunkFormat<ChannelPair> = {
  create: (left, right) => [left.slice(), right.slice()],
  createSilence: (samples) => [samples, samples],
};
