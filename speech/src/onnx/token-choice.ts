import { SpeechError } from "../errors.ts";

/** A token and the natural logarithm of its probability among all tokens (at temperature 1). */
export interface TokenChoice {
  token: number;
  logProbability: number;
}

/**
 * A logit this far below the highest adds nothing: e⁻²⁰ is 2·10⁻⁹, so even 50,000 of them change a
 * logarithm by less than 10⁻⁴. Leaving them out makes the sum several times as fast.
 */
const NEGLIGIBLE_BELOW = 20;

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
  let token = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let isNumber = true;
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i] as number;
    if (logit <= highest) continue;
    if (Number.isNaN(logit)) isNumber = false;
    token = i;
    highest = logit;
  }
  if (!isNumber || !Number.isFinite(highest)) {
    throw new SpeechError("model_unusable", "The decoder gave what are no probabilities of tokens.");
  }
  return { token, highest };
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
