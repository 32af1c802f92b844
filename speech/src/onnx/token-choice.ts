import { SpeechError } from "../errors.ts";

/** A token and the natural logarithm of its probability among all tokens (at temperature 1). */
export interface TokenChoice {
  token: number;
  logProbability: number;
}

/**
 * A logit this far below the highest adds next to nothing: e⁻¹⁵ is 3·10⁻⁷, so even 50,000 of them change a
 * logarithm by less than 0.02; what decoders gave changed it by 0.0006 at most. It saves most of the time.
 */
const NEGLIGIBLE_BELOW = 15;

/**
 * The likeliest token, or one drawn by chance where `sampling` is given.
 * @param logits One for each token; −∞ for those that are not allowed.
 * @throws SpeechError `model_unusable` where the logits are no numbers, or no token is allowed.
 */
export function chooseToken(logits: Float32Array, sampling: Sampling | null): TokenChoice {
  const { token: likeliest, highest } = highestLogit(logits);
  const logSum = logSumExp(logits, highest);
  const token = sampling ? drawToken(logits, highest, sampling) : likeliest;
  return { token, logProbability: (logits[token] as number) - logSum };
}

/** Probability of each of the tokens, among all tokens. */
export function probabilitiesOf(logits: Float32Array, tokens: readonly number[]): number[] {
  const logSum = logSumExp(logits, highestLogit(logits).highest);
  return tokens.map((token) => Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - logSum));
}

function highestLogit(logits: Float32Array): { token: number; highest: number } {
  // Four at a time, so that no comparison waits for the one before it: vocabularies are large.
  let a = Number.NEGATIVE_INFINITY;
  let b = a;
  let c = a;
  let d = a;
  let sum = 0;
  const whole = logits.length - (logits.length % 4);
  for (let i = 0; i < whole; i += 4) {
    const w = logits[i]!;
    const x = logits[i + 1]!;
    const y = logits[i + 2]!;
    const z = logits[i + 3]!;
    if (w > a) a = w;
    if (x > b) b = x;
    if (y > c) c = y;
    if (z > d) d = z;
    sum += w + x + y + z;
  }
  for (let i = whole; i < logits.length; i++) {
    a = Math.max(a, logits[i]!);
    sum += logits[i]!;
  }
  const highest = Math.max(a, b, c, d);
  if (Number.isNaN(sum) || !Number.isFinite(highest)) {
    throw new SpeechError("model_unusable", "The decoder gave what are no probabilities of tokens.");
  }
  return { token: logits.indexOf(highest), highest };
}

/** Natural logarithm of the sum of the logits' exponentials. */
function logSumExp(logits: Float32Array, highest: number): number {
  const negligible = highest - NEGLIGIBLE_BELOW;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i] as number;
    if (logit > negligible) sum += Math.exp(logit - highest);
  }
  return highest + Math.log(sum);
}

/** How tokens are drawn: each with a probability ∝ exp(logit ÷ temperature). */
export interface Sampling {
  /** Above 0. */
  temperature: number;
  /** The next number of a generator, 0 … 1. */
  random: () => number;
}

function drawToken(logits: Float32Array, highest: number, { temperature, random }: Sampling): number {
  const negligible = highest - NEGLIGIBLE_BELOW * temperature;
  let sum = 0;
  for (const logit of logits) if (logit > negligible) sum += Math.exp((logit - highest) / temperature);
  let left = random() * sum;
  let drawn = 0;
  for (let token = 0; token < logits.length; token++) {
    const logit = logits[token] as number;
    if (logit <= negligible) continue;
    drawn = token;
    left -= Math.exp((logit - highest) / temperature);
    if (left < 0) break;
  }
  return drawn;
}

/** Numbers 0 … 1 that are the same for the same seed: the generator mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
