import type { ChunkFormat } from "./chunker.ts";

/** The two channels of a chunk of audio. Both have the same length. */
export type ChannelPair = readonly [first: Float32Array, second: Float32Array];

/** Keeps the channels of a track apart. */
export const CHANNEL_PAIRS: ChunkFormat<ChannelPair> = {
  create: (left, right) => [left.slice(), right.slice()],
  createSilence: (samples) => [samples, samples],
};
