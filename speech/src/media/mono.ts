import { SAMPLE_RATE, silence } from "./audio.ts";

const CHUNK_SAMPLES = SAMPLE_RATE;
/** Duration of the fade from one mix to another. */
const FADE_SAMPLES = SAMPLE_RATE / 100;
/** With at most this share of the louder channel's energy in the average, the channels cancel each other. */
const CANCELED_ENERGY = 0.05;
/** With more than this share, the average is used again. If one channel is silent, the share is a quarter. */
const RESTORED_ENERGY = 0.15;

/**
 * Mixes interleaved samples to mono in chunks of one second. Averages two channels, or uses only the louder one if they
 * cancel each other because of reversed polarity. Uses constant memory.
 */
export class MonoMixer {
  /** Largest absolute value of any channel in the output so far. */
  peak = 0;
  #chunkPeak = 0;
  readonly #channels: 1 | 2;
  #left = new Float32Array(CHUNK_SAMPLES);
  #right: Float32Array;
  #filled = 0;
  #weights: readonly [left: number, right: number];

  constructor(channels: 1 | 2) {
    this.#channels = channels;
    this.#right = channels === 2 ? new Float32Array(CHUNK_SAMPLES) : this.#left;
    this.#weights = channels === 2 ? [0.5, 0.5] : [1, 0];
  }

  /** @param from first frame to use; a frame is one sample of each channel */
  *add(samples: Float32Array, from = 0): Generator<Float32Array> {
    const frames = Math.floor(samples.length / this.#channels);
    for (let frame = from; frame < frames; ) {
      const end = Math.min(frames, frame + CHUNK_SAMPLES - this.#filled);
      if (this.#channels === 1) this.#addMono(samples.subarray(frame, end));
      else {
        this.#addChannel(samples, frame, end, this.#left, 0, 2);
        this.#addChannel(samples, frame, end, this.#right, 1, 2);
      }
      this.#filled += end - frame;
      frame = end;
      if (this.#filled === CHUNK_SAMPLES) yield* this.#mix();
    }
  }

  /** Copies the samples, unless one of them is out of range. */
  #addMono(samples: Float32Array): void {
    let highest = 0;
    let lowest = 0;
    let sum = 0;
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i]!;
      if (sample > highest) highest = sample;
      if (sample < lowest) lowest = sample;
      sum += sample;
    }
    // The sum is NaN if any sample is NaN.
    if (highest <= 1 && lowest >= -1 && !Number.isNaN(sum)) {
      this.#left.set(samples, this.#filled);
      this.#chunkPeak = Math.max(this.#chunkPeak, highest, -lowest);
    } else this.#addChannel(samples, 0, samples.length, this.#left);
  }

  #addChannel(
    samples: Float32Array,
    from: number,
    end: number,
    side: Float32Array,
    channel = 0,
    channels = 1,
  ): void {
    let peak = this.#chunkPeak;
    let index = this.#filled;
    for (let frame = from; frame < end; frame++) {
      const sample = clean(samples[frame * channels + channel]!);
      side[index++] = sample;
      if (sample > peak) peak = sample;
      else if (-sample > peak) peak = -sample;
    }
    this.#chunkPeak = peak;
  }

  *addSilence(frames: number): Generator<Float32Array> {
    for (let left = frames; left > 0; ) {
      if (this.#filled === 0 && left >= CHUNK_SAMPLES) {
        yield* silence(left - (left % CHUNK_SAMPLES));
        left %= CHUNK_SAMPLES;
        continue;
      }
      const step = Math.min(left, CHUNK_SAMPLES - this.#filled);
      this.#left.fill(0, this.#filled, this.#filled + step);
      this.#right.fill(0, this.#filled, this.#filled + step);
      this.#filled += step;
      left -= step;
      if (this.#filled === CHUNK_SAMPLES) yield* this.#mix();
    }
  }

  *flush(): Generator<Float32Array> {
    if (this.#filled > 0) yield* this.#mix();
  }

  #mix(): Iterable<Float32Array> {
    const length = this.#filled;
    const isSilent = this.#chunkPeak === 0;
    this.peak = Math.max(this.peak, this.#chunkPeak);
    this.#filled = 0;
    this.#chunkPeak = 0;
    if (isSilent) return silence(length);
    if (this.#channels === 1) return [this.#left.slice(0, length)];
    const [fromLeft, fromRight] = this.#weights;
    const [toLeft, toRight] = this.#chooseWeights(length);
    this.#weights = [toLeft, toRight];
    const mono = new Float32Array(length);
    const fade = fromLeft === toLeft ? 0 : Math.min(FADE_SAMPLES, length);
    for (let i = 0; i < length; i++) {
      const share = i < fade ? i / fade : 1;
      mono[i] =
        this.#left[i]! * (fromLeft + (toLeft - fromLeft) * share) +
        this.#right[i]! * (fromRight + (toRight - fromRight) * share);
    }
    return [mono];
  }

  #chooseWeights(length: number): readonly [number, number] {
    let left = 0;
    let right = 0;
    let mix = 0;
    for (let i = 0; i < length; i++) {
      const l = this.#left[i]!;
      const r = this.#right[i]!;
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

/** Files with float samples may contain any value. */
function clean(sample: number): number {
  if (sample >= -1 && sample <= 1) return sample;
  return Number.isNaN(sample) ? 0 : Math.sign(sample);
}
