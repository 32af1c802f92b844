import { SAMPLE_RATE } from "../../media/audio.ts";
import { FourierTransform } from "./fft.ts";
import type { WhisperModel } from "./model-files.ts";

/** Lower limit of energies. */
const FLOOR = 1e-10;
/** Range below the loudest value, in powers of ten. */
const RANGE = 8;

/** A triangular filter on the mel scale: the weights of the frequencies from index `from` on. */
interface MelFilter {
  from: number;
  weights: Float64Array;
}

/**
 * Computes the log-mel spectrogram that Whisper encoders expect, like OpenAI's implementation (Radford et al. 2022,
 * section 2.2): a Hann window, frames centered on every hop with the audio mirrored at both ends, power in mel bins of
 * equal area on Slaney's scale, the logarithm limited to 80 dB below the maximum, scaled to about −1 … 1.
 */
export class LogMel {
  readonly #model: Pick<WhisperModel, "melBins" | "hopSamples" | "fftSamples" | "window">;
  readonly #hann: Float64Array;
  readonly #filters: readonly MelFilter[];
  readonly #transform: FourierTransform;
  /** Samples of the window, padded by half a frame at both ends. */
  readonly #padded: Float32Array;

  constructor(model: Pick<WhisperModel, "melBins" | "hopSamples" | "fftSamples" | "window">) {
    const { fftSamples } = model;
    this.#model = model;
    this.#hann = Float64Array.from(
      { length: fftSamples },
      (_, sample) => 0.5 - 0.5 * Math.cos((2 * Math.PI * sample) / fftSamples),
    );
    this.#filters = melFilters(model.melBins, fftSamples);
    this.#transform = new FourierTransform(fftSamples);
    this.#padded = new Float32Array(model.window.samples + 2 * (fftSamples >> 1));
  }

  /**
   * @param samples 16 kHz mono, padded with zeros or cut to the length of the window
   * @returns `[melBins, melFrames]`
   */
  compute(samples: Float32Array): Float32Array {
    const { melBins, hopSamples, fftSamples, window } = this.#model;
    const audible = samples.length > window.samples ? samples.subarray(0, window.samples) : samples;
    this.#pad(audible);
    const frames = Math.min(window.melFrames, Math.ceil((audible.length + (fftSamples >> 1)) / hopSamples));

    const power = new Float64Array((fftSamples >> 1) + 1);
    const nextPower = new Float64Array(power.length);
    const logMel = new Float32Array(melBins * window.melFrames).fill(Math.log10(FLOOR));
    let loudest = Math.log10(FLOOR);
    for (let frame = 0; frame < frames; frame += 2) {
      this.#powerOfTwoFrames(frame, power, nextPower);
      loudest = Math.max(loudest, this.#writeFrame(logMel, frame, power));
      if (frame + 1 < frames) loudest = Math.max(loudest, this.#writeFrame(logMel, frame + 1, nextPower));
    }
    const lowest = loudest - RANGE;
    for (let index = 0; index < logMel.length; index++) {
      logMel[index] = (Math.max(logMel[index]!, lowest) + 4) / 4;
    }
    return logMel;
  }

  #pad(samples: Float32Array): void {
    const padded = this.#padded;
    const half = this.#model.fftSamples >> 1;
    const end = half + this.#model.window.samples;
    padded.fill(0);
    padded.set(samples, half);
    for (let beyond = 1; beyond <= half; beyond++) {
      padded[half - beyond] = padded[half + beyond]!;
      padded[end - 1 + beyond] = padded[end - 1 - beyond]!;
    }
  }

  /** Transforms two frames together, as the real and the imaginary part of the input. */
  #powerOfTwoFrames(frame: number, power: Float64Array, nextPower: Float64Array): void {
    const { hopSamples, fftSamples } = this.#model;
    const transform = this.#transform;
    const hann = this.#hann;
    const padded = this.#padded;
    const { real, imaginary } = transform;
    const start = frame * hopSamples;
    const nextStart = start + hopSamples;
    const isLast = nextStart + fftSamples > padded.length;
    for (let sample = 0; sample < fftSamples; sample++) {
      real[sample] = padded[start + sample]! * hann[sample]!;
      imaginary[sample] = isLast ? 0 : padded[nextStart + sample]! * hann[sample]!;
    }
    transform.transform();
    const re = transform.real;
    const im = transform.imaginary;
    for (let frequency = 0; frequency < power.length; frequency++) {
      const mirror = frequency === 0 ? 0 : fftSamples - frequency;
      const evenReal = re[frequency]! + re[mirror]!;
      const oddImaginary = im[frequency]! - im[mirror]!;
      const evenImaginary = im[frequency]! + im[mirror]!;
      const oddReal = re[frequency]! - re[mirror]!;
      power[frequency] = (evenReal * evenReal + oddImaginary * oddImaginary) / 4;
      nextPower[frequency] = (evenImaginary * evenImaginary + oddReal * oddReal) / 4;
    }
  }

  /** Returns the logarithm of the loudest bin. */
  #writeFrame(logMel: Float32Array, frame: number, power: Float64Array): number {
    const { melFrames } = this.#model.window;
    let loudest = FLOOR;
    for (let bin = 0; bin < this.#filters.length; bin++) {
      const { from, weights } = this.#filters[bin]!;
      let sum = 0;
      for (let index = 0; index < weights.length; index++) sum += weights[index]! * power[from + index]!;
      const energy = Math.max(sum, FLOOR);
      if (energy > loudest) loudest = energy;
      logMel[bin * melFrames + frame] = Math.log10(energy);
    }
    return Math.log10(loudest);
  }
}

function melFilters(melBins: number, fftSamples: number): MelFilter[] {
  const highestMel = melOf(SAMPLE_RATE / 2);
  const corners = Array.from({ length: melBins + 2 }, (_, corner) =>
    hertzOf((highestMel * corner) / (melBins + 1)),
  );
  const frequencies = Array.from(
    { length: (fftSamples >> 1) + 1 },
    (_, index) => (index * SAMPLE_RATE) / fftSamples,
  );
  return Array.from({ length: melBins }, (_, bin) => {
    const [low, middle, high] = corners.slice(bin, bin + 3) as [number, number, number];
    const weights = frequencies.map((hertz) => {
      const rising = (hertz - low) / (middle - low);
      const falling = (high - hertz) / (high - middle);
      return (Math.max(0, Math.min(rising, falling)) * 2) / (high - low);
    });
    const from = Math.max(
      0,
      weights.findIndex((weight) => weight > 0),
    );
    const to = weights.findLastIndex((weight) => weight > 0) + 1;
    return { from, weights: Float64Array.from(weights.slice(from, to)) };
  });
}

/** Slaney's mel scale (Auditory Toolbox, 1998): linear up to 1000 Hz, logarithmic above. */
function melOf(hertz: number): number {
  return hertz < 1000 ? (hertz * 3) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4);
}

function hertzOf(mel: number): number {
  return mel < 15 ? (mel * 200) / 3 : 1000 * 6.4 ** ((mel - 15) / 27);
}
