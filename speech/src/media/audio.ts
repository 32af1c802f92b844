/** Sample rate of all audio in this package. */
export const SAMPLE_RATE = 16_000;

const ZEROS = new Float32Array(60 * SAMPLE_RATE);

/**
 * Yields chunks of digital silence, `count` samples in all. All chunks share one buffer, so they are read-only, and
 * `isSilence` recognizes them without reading samples. Hours of padding between timestamps are therefore almost free.
 */
export function* silence(count: number): Generator<Float32Array> {
  for (let left = count; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** Returns whether `silence` created the chunk. Other chunks may also contain digital silence. */
export function isSilence(chunk: Float32Array): boolean {
  return chunk.buffer === ZEROS.buffer;
}
