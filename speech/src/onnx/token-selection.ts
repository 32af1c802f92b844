import { SpeechError } from "../errors.ts";

export interface TokenChoice {
  token: number;
  /** Natural logarithm, at temperature 1. */
  logProbability: number;
}

/**
 * Logits this far below the highest are ignored, which saves most of the time. e⁻¹⁵ is 3·10⁻⁷, so even 50,000 of them
 * change the logarithm of the sum by less than 0.02, and in practice by at most 0.0006.
 */
const NEGLIGIBLE_BELOW = 15;

/**
 * Returns the most likely token, or a sampled token.
 * @param logits −∞ for suppressed tokens
 * @throws SpeechError `model_unusable` if a logit is NaN or all tokens are suppressed
 */
export function chooseToken(logits: Float32Array, sampling: Sampling | null): TokenChoice {
  const { highest, near } = findHighest(logits);
  const token = sampling ? drawToken(logits, highest, sampling) : logits.indexOf(highest, near);
  return { token, logProbability: (logits[token] as number) - logSumExp(logits, highest) };
}

export function probabilitiesOf(logits: Float32Array, tokens: readonly number[]): number[] {
  const logSum = logSumExp(logits, findHighest(logits).highest);
  return tokens.map((token) => Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - logSum));
}

/**
 * Finds the highest logit, which is at `near` or up to three positions later. Most logits are not higher than all before
 * them, so four are skipped with one branch, which takes a fifth of the time.
 */
function findHighest(logits: Float32Array): { highest: number; near: number } {
  let highest = Number.NEGATIVE_INFINITY;
  let near = 0;
  let token = 0;
  for (; token + 4 <= logits.length; token += 4) {
    const first = logits[token]!;
    const second = logits[token + 1]!;
    const third = logits[token + 2]!;
    const fourth = logits[token + 3]!;
    if (first <= highest && second <= highest && third <= highest && fourth <= highest) continue;
    // NaN also gets here and remains the highest.
    highest = Math.max(highest, first, second, third, fourth);
    near = token;
  }
  for (; token < logits.length; token++) {
    if (logits[token]! <= highest) continue;
    highest = Math.max(highest, logits[token]!);
    near = token;
  }
  if (!Number.isFinite(highest)) {
    throw new SpeechError("model_unusable", "The decoder returned invalid probabilities.");
  }
  return { highest, near };
}

function logSumExp(logits: Float32Array, highest: number): number {
  const negligible = highest - NEGLIGIBLE_BELOW;
  let sum = 0;
  let token = 0;
  for (; token + 4 <= logits.length; token += 4) {
    const first = logits[token]!;
    const second = logits[token + 1]!;
    const third = logits[token + 2]!;
    const fourth = logits[token + 3]!;
    if (first <= negligible && second <= negligible && third <= negligible && fourth <= negligible) continue;
    if (first > negligible) sum += Math.exp(first - highest);
    if (second > negligible) sum += Math.exp(second - highest);
    if (third > negligible) sum += Math.exp(third - highest);
    if (fourth > negligible) sum += Math.exp(fourth - highest);
  }
  for (; token < logits.length; token++) {
    if (logits[token]! > negligible) sum += Math.exp(logits[token]! - highest);
  }
  return highest + Math.log(sum);
}

/** Temperatures at which failed texts are decoded again, as in OpenAI's decoder. */
export const SAMPLING_TEMPERATURES = [0.2, 0.4, 0.6, 0.8, 1];

export interface Sampling {
  /** Above 0. */
  temperature: number;
  /** Returns the next random number, 0 ≤ x < 1. */
  random: () => number;
}

/** Draws a token with a probability proportional to exp(logit ÷ temperature). */
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

/** Returns the generator mulberry32, which returns numbers 0 ≤ x < 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
