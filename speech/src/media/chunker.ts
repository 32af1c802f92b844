import { SAMPLE_RATE, silence } from "./audio.ts";

const CHUNK_SAMPLES = SAMPLE_RATE;

/** Creates chunks from up to a second of audio. The arrays are reused, so a chunk must not keep them. */
export interface ChunkFormat<Chunk> {
  /** @param right the same array as `left` for one channel */
  create(left: Float32Array, right: Float32Array): Chunk;
  /** @param samples created by `silence` */
  createSilence(samples: Float32Array): Chunk;
}

/** Collects interleaved samples in chunks of one second. Uses constant memory. */
export class Chunker<Chunk> {
  /** Largest absolute value of any channel in the output so far. */
  peak = 0;
  #chunkPeak = 0;
  readonly #channels: 1 | 2;
  readonly #format: ChunkFormat<Chunk>;
  #left = new Float32Array(CHUNK_SAMPLES);
  #right: Float32Array;
  #filled = 0;

  constructor(channels: 1 | 2, format: ChunkFormat<Chunk>) {
    this.#channels = channels;
    this.#format = format;
    this.#right = channels === 2 ? new Float32Array(CHUNK_SAMPLES) : this.#left;
  }

  /** @param from first frame to use; a frame is one sample of each channel */
  *add(samples: Float32Array, from = 0): Generator<Chunk> {
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
      if (this.#filled === CHUNK_SAMPLES) yield* this.#take();
    }
  }

  /** Copies all samples at once, unless one of them is out of range. */
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

  *addSilence(frames: number): Generator<Chunk> {
    for (let left = frames; left > 0; ) {
      if (this.#filled === 0 && left >= CHUNK_SAMPLES) {
        yield* this.#silence(left - (left % CHUNK_SAMPLES));
        left %= CHUNK_SAMPLES;
        continue;
      }
      const step = Math.min(left, CHUNK_SAMPLES - this.#filled);
      this.#left.fill(0, this.#filled, this.#filled + step);
      this.#right.fill(0, this.#filled, this.#filled + step);
      this.#filled += step;
      left -= step;
      if (this.#filled === CHUNK_SAMPLES) yield* this.#take();
    }
  }

  *flush(): Generator<Chunk> {
    if (this.#filled > 0) yield* this.#take();
  }

  *#take(): Generator<Chunk> {
    const length = this.#filled;
    const isSilent = this.#chunkPeak === 0;
    this.peak = Math.max(this.peak, this.#chunkPeak);
    this.#filled = 0;
    this.#chunkPeak = 0;
    if (isSilent) yield* this.#silence(length);
    else yield this.#format.create(this.#left.subarray(0, length), this.#right.subarray(0, length));
  }

  *#silence(frames: number): Generator<Chunk> {
    for (const samples of silence(frames)) yield this.#format.createSilence(samples);
  }
}

/** Files with float samples may contain any value. */
function clean(sample: number): number {
  if (sample >= -1 && sample <= 1) return sample;
  return Number.isNaN(sample) ? 0 : Math.sign(sample);
}
