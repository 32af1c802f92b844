/** One pass of the transform. Each butterfly combines `radix` values; `stride` butterflies share twiddle factors. */
interface Pass {
  radix: number;
  groups: number;
  stride: number;
  /** Twiddle factors of each group, except for its first value. */
  twiddleReal: Float64Array;
  twiddleImaginary: Float64Array;
}

const SIN_TURN_5 = [Math.sin((2 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)] as const;
const COS_TURN_5 = [Math.cos((2 * Math.PI) / 5), Math.cos((4 * Math.PI) / 5)] as const;

/**
 * Discrete Fourier transform with Stockham's self-sorting algorithm and mixed radices (Cooley and Tukey 1965; Cochran et
 * al. 1967). It is fast if the prime factors of the length are small. Radices 4 and 5 are unrolled, because Whisper's
 * transform has 400 samples.
 */
export class FourierTransform {
  /** The input. After `transform`, the result in natural order. */
  real: Float64Array;
  imaginary: Float64Array;
  #spareReal: Float64Array;
  #spareImaginary: Float64Array;
  readonly #passes: readonly Pass[];

  constructor(length: number) {
    this.real = new Float64Array(length);
    this.imaginary = new Float64Array(length);
    this.#spareReal = new Float64Array(length);
    this.#spareImaginary = new Float64Array(length);
    this.#passes = passesOf(length);
  }

  /** Replaces the arrays `real` and `imaginary`. */
  transform(): void {
    for (const pass of this.#passes) {
      const combine = pass.radix === 4 ? combine4 : pass.radix === 5 ? combine5 : combineAny;
      combine(pass, this.real, this.imaginary, this.#spareReal, this.#spareImaginary);
      [this.real, this.#spareReal] = [this.#spareReal, this.real];
      [this.imaginary, this.#spareImaginary] = [this.#spareImaginary, this.imaginary];
    }
  }
}

function passesOf(length: number): Pass[] {
  const passes: Pass[] = [];
  let left = length;
  for (const radix of radicesOf(length)) {
    const groups = left / radix;
    const turns = Array.from({ length: groups * (radix - 1) }, (_, index) => {
      const group = Math.floor(index / (radix - 1));
      return (-2 * Math.PI * group * ((index % (radix - 1)) + 1)) / left;
    });
    passes.push({
      radix,
      groups,
      stride: length / left,
      twiddleReal: Float64Array.from(turns, Math.cos),
      twiddleImaginary: Float64Array.from(turns, Math.sin),
    });
    left = groups;
  }
  return passes;
}

function radicesOf(length: number): number[] {
  const radices: number[] = [];
  let left = length;
  for (; left % 4 === 0; left /= 4) radices.push(4);
  for (let radix = 2; left > 1; radix++) {
    for (; left % radix === 0; left /= radix) radices.push(radix);
  }
  return radices;
}

type Combine = (
  pass: Pass,
  fromReal: Float64Array,
  fromImaginary: Float64Array,
  toReal: Float64Array,
  toImaginary: Float64Array,
) => void;

const combine4: Combine = (pass, fromReal, fromImaginary, toReal, toImaginary) => {
  const { groups, stride, twiddleReal, twiddleImaginary } = pass;
  const apart = stride * groups;
  for (let group = 0; group < groups; group++) {
    const w1r = twiddleReal[3 * group]!;
    const w1i = twiddleImaginary[3 * group]!;
    const w2r = twiddleReal[3 * group + 1]!;
    const w2i = twiddleImaginary[3 * group + 1]!;
    const w3r = twiddleReal[3 * group + 2]!;
    const w3i = twiddleImaginary[3 * group + 2]!;
    for (let side = 0; side < stride; side++) {
      const from = side + stride * group;
      const ar = fromReal[from]!;
      const ai = fromImaginary[from]!;
      const br = fromReal[from + apart]!;
      const bi = fromImaginary[from + apart]!;
      const cr = fromReal[from + 2 * apart]!;
      const ci = fromImaginary[from + 2 * apart]!;
      const dr = fromReal[from + 3 * apart]!;
      const di = fromImaginary[from + 3 * apart]!;
      const acr = ar + cr;
      const aci = ai + ci;
      const bdr = br + dr;
      const bdi = bi + di;
      const acrMinus = ar - cr;
      const aciMinus = ai - ci;
      const bdrMinus = br - dr;
      const bdiMinus = bi - di;
      const to = side + 4 * stride * group;
      toReal[to] = acr + bdr;
      toImaginary[to] = aci + bdi;
      const r1 = acrMinus + bdiMinus;
      const i1 = aciMinus - bdrMinus;
      toReal[to + stride] = r1 * w1r - i1 * w1i;
      toImaginary[to + stride] = r1 * w1i + i1 * w1r;
      const r2 = acr - bdr;
      const i2 = aci - bdi;
      toReal[to + 2 * stride] = r2 * w2r - i2 * w2i;
      toImaginary[to + 2 * stride] = r2 * w2i + i2 * w2r;
      const r3 = acrMinus - bdiMinus;
      const i3 = aciMinus + bdrMinus;
      toReal[to + 3 * stride] = r3 * w3r - i3 * w3i;
      toImaginary[to + 3 * stride] = r3 * w3i + i3 * w3r;
    }
  }
};

const combine5: Combine = (pass, fromReal, fromImaginary, toReal, toImaginary) => {
  const { groups, stride, twiddleReal, twiddleImaginary } = pass;
  const [s1, s2] = SIN_TURN_5;
  const [c1, c2] = COS_TURN_5;
  const apart = stride * groups;
  for (let group = 0; group < groups; group++) {
    const w1r = twiddleReal[4 * group]!;
    const w1i = twiddleImaginary[4 * group]!;
    const w2r = twiddleReal[4 * group + 1]!;
    const w2i = twiddleImaginary[4 * group + 1]!;
    const w3r = twiddleReal[4 * group + 2]!;
    const w3i = twiddleImaginary[4 * group + 2]!;
    const w4r = twiddleReal[4 * group + 3]!;
    const w4i = twiddleImaginary[4 * group + 3]!;
    for (let side = 0; side < stride; side++) {
      const from = side + stride * group;
      const ar = fromReal[from]!;
      const ai = fromImaginary[from]!;
      const br = fromReal[from + apart]!;
      const bi = fromImaginary[from + apart]!;
      const cr = fromReal[from + 2 * apart]!;
      const ci = fromImaginary[from + 2 * apart]!;
      const dr = fromReal[from + 3 * apart]!;
      const di = fromImaginary[from + 3 * apart]!;
      const er = fromReal[from + 4 * apart]!;
      const ei = fromImaginary[from + 4 * apart]!;
      const ber = br + er;
      const bei = bi + ei;
      const cdr = cr + dr;
      const cdi = ci + di;
      const berMinus = br - er;
      const beiMinus = bi - ei;
      const cdrMinus = cr - dr;
      const cdiMinus = ci - di;
      const alike1r = ar + c1 * ber + c2 * cdr;
      const alike1i = ai + c1 * bei + c2 * cdi;
      const alike2r = ar + c2 * ber + c1 * cdr;
      const alike2i = ai + c2 * bei + c1 * cdi;
      const opposite1r = s1 * beiMinus + s2 * cdiMinus;
      const opposite1i = -s1 * berMinus - s2 * cdrMinus;
      const opposite2r = s2 * beiMinus - s1 * cdiMinus;
      const opposite2i = -s2 * berMinus + s1 * cdrMinus;
      const to = side + 5 * stride * group;
      toReal[to] = ar + ber + cdr;
      toImaginary[to] = ai + bei + cdi;
      const r1 = alike1r + opposite1r;
      const i1 = alike1i + opposite1i;
      toReal[to + stride] = r1 * w1r - i1 * w1i;
      toImaginary[to + stride] = r1 * w1i + i1 * w1r;
      const r2 = alike2r + opposite2r;
      const i2 = alike2i + opposite2i;
      toReal[to + 2 * stride] = r2 * w2r - i2 * w2i;
      toImaginary[to + 2 * stride] = r2 * w2i + i2 * w2r;
      const r3 = alike2r - opposite2r;
      const i3 = alike2i - opposite2i;
      toReal[to + 3 * stride] = r3 * w3r - i3 * w3i;
      toImaginary[to + 3 * stride] = r3 * w3i + i3 * w3r;
      const r4 = alike1r - opposite1r;
      const i4 = alike1i - opposite1i;
      toReal[to + 4 * stride] = r4 * w4r - i4 * w4i;
      toImaginary[to + 4 * stride] = r4 * w4i + i4 * w4r;
    }
  }
};

const combineAny: Combine = (pass, fromReal, fromImaginary, toReal, toImaginary) => {
  const { radix, groups, stride, twiddleReal, twiddleImaginary } = pass;
  for (let group = 0; group < groups; group++) {
    for (let side = 0; side < stride; side++) {
      for (let out = 0; out < radix; out++) {
        let real = 0;
        let imaginary = 0;
        for (let part = 0; part < radix; part++) {
          const angle = (-2 * Math.PI * ((out * part) % radix)) / radix;
          const cos = Math.cos(angle);
          const sin = Math.sin(angle);
          const from = side + stride * (group + part * groups);
          real += fromReal[from]! * cos - fromImaginary[from]! * sin;
          imaginary += fromReal[from]! * sin + fromImaginary[from]! * cos;
        }
        const turn = group * (radix - 1) + out - 1;
        const wr = out === 0 ? 1 : twiddleReal[turn]!;
        const wi = out === 0 ? 0 : twiddleImaginary[turn]!;
        const to = side + stride * (radix * group + out);
        toReal[to] = real * wr - imaginary * wi;
        toImaginary[to] = real * wi + imaginary * wr;
      }
    }
  }
};
