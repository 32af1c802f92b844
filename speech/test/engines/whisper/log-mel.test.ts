import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FourierTransform } from "../../../src/engines/whisper/fft.ts";
import { LogMel } from "../../../src/engines/whisper/log-mel.ts";

/** Sizes of real Whisper models, but for the window: slow reference below. */
function model(melBins: number, samples: number, sizes = { hopSamples: 160, fftSamples: 400 }) {
  const melFrames = Math.floor(samples / sizes.hopSamples);
  return {
    melBins,
    ...sizes,
    window: { seconds: samples / 16_000, samples, melFrames, encoderFrames: melFrames >> 1 },
  };
}

/** Sound with something at every frequency. */
function sweep(samples: number): Float32Array {
  return Float32Array.from(
    { length: samples },
    (_, i) => 0.3 * Math.sin(i * i * 1e-4) + 0.01 * Math.sin(i * 1.7),
  );
}

/** The definition, term by term. */
function slowTransform(real: readonly number[], imaginary: readonly number[]): [number, number][] {
  return real.map((_, k) =>
    real.reduce<[number, number]>(
      ([re, im], value, n) => {
        const angle = (-2 * Math.PI * k * n) / real.length;
        const other = imaginary[n] as number;
        return [
          re + value * Math.cos(angle) - other * Math.sin(angle),
          im + value * Math.sin(angle) + other * Math.cos(angle),
        ];
      },
      [0, 0],
    ),
  );
}

/** Written from the formulas for one frame and bin at a time, without a fast transform. */
function slowLogMel(
  samples: Float32Array,
  { melBins, hopSamples, fftSamples, window }: ReturnType<typeof model>,
) {
  const at = (index: number): number => {
    if (index < 0) return at(-index);
    if (index >= window.samples) return at(2 * (window.samples - 1) - index);
    return samples[index] ?? 0;
  };
  const mel = (f: number) => (f < 1000 ? (3 * f) / 200 : 15 + Math.log(f / 1000) / (Math.log(6.4) / 27));
  const hertz = (m: number) => (m < 15 ? (m * 200) / 3 : 1000 * Math.exp(((m - 15) * Math.log(6.4)) / 27));
  const edge = (i: number) => hertz((mel(8000) * i) / (melBins + 1));
  const values: number[] = [];
  for (let frame = 0; frame < window.melFrames; frame++) {
    const cut = Array.from({ length: fftSamples }, (_, n) => {
      const hann = Math.sin((Math.PI * n) / fftSamples) ** 2;
      return hann * at(frame * hopSamples + n - fftSamples / 2);
    });
    const power = slowTransform(
      cut,
      cut.map(() => 0),
    ).map(([re, im]) => re * re + im * im);
    for (let bin = 0; bin < melBins; bin++) {
      const [low, middle, high] = [edge(bin), edge(bin + 1), edge(bin + 2)];
      let energy = 0;
      for (let k = 0; k <= fftSamples / 2; k++) {
        const f = (k * 16_000) / fftSamples;
        const weight = Math.min((f - low) / (middle - low), (high - f) / (high - middle));
        if (weight > 0) energy += (weight * 2 * (power[k] as number)) / (high - low);
      }
      values[bin * window.melFrames + frame] = Math.log10(Math.max(energy, 1e-10));
    }
  }
  const loudest = Math.max(...values);
  return values.map((value) => (Math.max(value, loudest - 8) + 4) / 4);
}

function farthest(a: Float32Array, b: readonly number[]): number {
  expect(a.length).toBe(b.length);
  return Math.max(...b.map((value, index) => Math.abs(value - (a[index] as number))));
}

describe("the log-mel spectrogram", () => {
  test("is what the formulas say, for 80 and 128 bins", () => {
    for (const melBins of [80, 128]) {
      const sizes = model(melBins, 3_200);
      expect(farthest(new LogMel(sizes).compute(sweep(3_200)), slowLogMel(sweep(3_200), sizes))).toBeLessThan(
        1e-5,
      );
    }
  });

  test("takes zeros for what is missing, and leaves out what is too much", () => {
    const sizes = model(80, 3_200);
    const logMel = new LogMel(sizes);
    for (const length of [0, 1, 159, 1_000, 3_199]) {
      expect(farthest(logMel.compute(sweep(length)), slowLogMel(sweep(length), sizes))).toBeLessThan(1e-5);
    }
    expect(logMel.compute(sweep(9_000))).toEqual(logMel.compute(sweep(9_000).subarray(0, 3_200)));
  });

  test("fits models of other sizes", () => {
    const sizes = model(40, 2_100, { hopSamples: 100, fftSamples: 286 });
    expect(farthest(new LogMel(sizes).compute(sweep(2_100)), slowLogMel(sweep(2_100), sizes))).toBeLessThan(
      1e-5,
    );
  });

  // torch.stft with the filters of the recipe's model.py, in single precision: frame 10 of bin 3, and the mean.
  test("agrees with the reference's arithmetic on a whole window", () => {
    let seed = 1;
    const noise = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return (seed / 2_147_483_648) * 2 - 1;
    };
    const samples = Float32Array.from(
      { length: 480_000 },
      (_, i) => 0.3 * Math.sin(i * i * 1e-6) + 0.01 * noise(),
    );
    const values = new LogMel(model(80, 480_000)).compute(samples);
    expect(values[3 * 3_000 + 10]).toBeCloseTo(0.329094, 4);
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.0630717, 4);
  });
});

test("the Fourier transform is the definition's, for any length", () => {
  const value = fc.double({ min: -1, max: 1, noNaN: true });
  const signal = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 130 });
  fc.assert(
    fc.property(signal, (values) => {
      const transform = new FourierTransform(values.length);
      for (const [index, [real, imaginary]] of values.entries()) {
        transform.real[index] = real;
        transform.imaginary[index] = imaginary;
      }
      transform.transform();
      const expected = slowTransform(
        values.map(([real]) => real),
        values.map(([, imaginary]) => imaginary),
      );
      for (const [index, [real, imaginary]] of expected.entries()) {
        expect(transform.real[index]).toBeCloseTo(real, 9);
        expect(transform.imaginary[index]).toBeCloseTo(imaginary, 9);
      }
    }),
  );
});
