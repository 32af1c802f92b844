import { ONSET_BIAS, ONSET_SCALE, ONSET_WEIGHTS } from "./word-onset-weights.ts";

const weights = new Int8Array(Buffer.from(ONSET_WEIGHTS, "base64"));

/**
 * Returns for each frame the log odds that a word starts in it, by a logistic regression over the encoder's state of the
 * frame. Word starts are rare, so most values are negative. `bench/src/train-word-onsets.ts` trains the weights.
 * @param states `[frames, width]`
 */
export function wordOnsets(states: Float32Array): Float32Array {
  const width = weights.length;
  return Float32Array.from({ length: states.length / width }, (_, frame) => {
    let sum = 0;
    for (let index = 0; index < width; index++) sum += weights[index]! * states[frame * width + index]!;
    return ONSET_BIAS + ONSET_SCALE * sum;
  });
}
