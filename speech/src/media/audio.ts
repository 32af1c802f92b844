/** Sample rate of all decoded audio in this package, in hertz. */
export const SAMPLE_RATE = 16_000;

const ZEROS = new Float32Array(60 * SAMPLE_RATE);

/**
 * Yields `count` samples of digital silence. All chunks share one buffer, so they must not be modified or
 * transferred. `isSharedSilence` recognizes them by that buffer, without reading samples. Hours of padding are therefore
 * almost free.
 */
export function* silence(count: number): Generator<Float32Array> {
  for (let left = count; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** Returns whether `silence` created the chunk. Other chunks may also contain digital silence. */
export function isSharedSilence(chunk: Float32Array): boolean {
  return chunk.buffer === ZEROS.buffer;
}
