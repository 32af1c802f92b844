/** Sample rate of all audio in this package. */
export const SAMPLE_RATE = 16_000;

const ZEROS = new Float32Array(60 * SAMPLE_RATE);

/**
 * Yields chunks of digital silence, `count` samples in all. They share one memory, so they are read-only, and
 * `isSilence` recognizes them without reading a sample: hours of padding between timestamps cost next to nothing.
 */
export function* silence(count: number): Generator<Float32Array> {
  for (let left = count; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** Returns whether `silence` made the chunk. Other chunks may hold digital silence as well. */
export function isSilence(chunk: Float32Array): boolean {
  return chunk.buffer === ZEROS.buffer;
}
