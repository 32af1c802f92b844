import { ONSET_BIAS, ONSET_SCALE, ONSET_WEIGHTS } from "./word-onset-weights.ts";

/** A frame and its neighbors. A start is a change, so a frame alone says less. */
const CONTEXT_FRAMES = 3;
const weights = new Int8Array(Buffer.from(ONSET_WEIGHTS, "base64"));

/**
 * Returns for each frame the log odds that a word starts in it, by a logistic regression over the encoder's states of the
 * frame and its neighbors. Word starts are rare, so most values are negative. `bench/src/train-word-onsets.ts` trains the
 * weights.
 * @param states `[frames, width]`, which may be followed by padding
 */
export function wordOnsets(states: Float32Array, frames: number): Float32Array {
  const width = weights.length / CONTEXT_FRAMES;
  const unpadded = states.subarray(0, frames * width);
  return Float32Array.from({ length: frames }, (_, frame) => {
    const values = neighborhood(unpadded, width, frame);
    let sum = 0;
    for (let index = 0; index < weights.length; index++) sum += weights[index]! * values[index]!;
    return ONSET_BIAS + ONSET_SCALE * sum;
  });
}

/** Returns the states of the previous, this and the next frame. The first and the last are repeated at the ends. */
export function neighborhood(states: Float32Array, width: number, frame: number): Float32Array {
  const last = states.length / width - 1;
  const found = new Float32Array(CONTEXT_FRAMES * width);
  for (let index = 0; index < CONTEXT_FRAMES; index++) {
    const at = Math.min(last, Math.max(0, frame + index - 1));
    found.set(states.subarray(at * width, (at + 1) * width), index * width);
  }
  return found;
}
