import { SAMPLE_RATE } from "./audio.ts";
import type { ChunkFormat } from "./chunker.ts";

/** Duration of the fade from one mix to another. */
const FADE_SAMPLES = SAMPLE_RATE / 100;
/** With at most this share of the louder channel's energy in the average, the channels cancel each other. */
const CANCELED_ENERGY = 0.05;
/** With more than this share, the average is used again. If one channel is silent, the share is a quarter. */
const RESTORED_ENERGY = 0.15;

/** Copies a single channel. */
export const MONO: ChunkFormat<Float32Array> = {
  create: (samples) => samples.slice(),
  createSilence: (samples) => samples,
};

/** Averages two channels, or uses only the louder one if they cancel each other because of reversed polarity. */
export class StereoMix implements ChunkFormat<Float32Array> {
  #weights: readonly [left: number, right: number] = [0.5, 0.5];

  create(left: Float32Array, right: Float32Array): Float32Array {
    const [fromLeft, fromRight] = this.#weights;
    const [toLeft, toRight] = this.#chooseWeights(left, right);
    this.#weights = [toLeft, toRight];
    const { length } = left;
    const mono = new Float32Array(length);
    const fade = fromLeft === toLeft ? 0 : Math.min(FADE_SAMPLES, length);
    for (let i = 0; i < length; i++) {
      const share = i < fade ? i / fade : 1;
      mono[i] =
        left[i]! * (fromLeft + (toLeft - fromLeft) * share) +
        right[i]! * (fromRight + (toRight - fromRight) * share);
    }
    return mono;
  }

  createSilence(samples: Float32Array): Float32Array {
    return samples;
  }

  #chooseWeights(leftSamples: Float32Array, rightSamples: Float32Array): readonly [number, number] {
    let left = 0;
    let right = 0;
    let mix = 0;
    for (let i = 0; i < leftSamples.length; i++) {
      const l = leftSamples[i]!;
      const r = rightSamples[i]!;
      left += l * l;
      right += r * r;
      mix += ((l + r) / 2) ** 2;
    }
    const louder = Math.max(left, right);
    if (louder === 0) return this.#weights;
    const share = mix / louder;
    if (share < CANCELED_ENERGY) return left >= right ? [1, 0] : [0, 1];
    return share > RESTORED_ENERGY ? [0.5, 0.5] : this.#weights;
  }
}
