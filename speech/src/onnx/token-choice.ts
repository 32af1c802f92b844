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
/** Vocabularies are large, and few of their parts have a logit that counts. */
const BLOCK_TOKENS = 128;

/**
 * The likeliest token, or one drawn by chance where `sampling` is given.
 * @param logits One for each token; −∞ for those that are not allowed.
 * @throws SpeechError `model_unusable` where the logits are no numbers, or no token is allowed.
 */
export function chooseToken(logits: Float32Array, sampling: Sampling | null): TokenChoice {
  const peaks = findPeaks(logits);
  const token = sampling ? drawToken(logits, peaks.highest, sampling) : likeliestToken(logits, peaks);
  return { token, logProbability: (logits[token] as number) - logSumExp(logits, peaks) };
}

/** Probability of each of the tokens, among all tokens. */
export function probabilitiesOf(logits: Float32Array, tokens: readonly number[]): number[] {
  const logSum = logSumExp(logits, findPeaks(logits));
  return tokens.map((token) => Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - logSum));
}

interface Peaks {
  highest: number;
  /** Highest logit of each block. */
  blocks: Float32Array;
}

function findPeaks(logits: Float32Array): Peaks {
  const blocks = new Float32Array(Math.ceil(logits.length / BLOCK_TOKENS));
  let highest = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let block = 0; block < blocks.length; block++) {
    // Several at a time, so that hardly a comparison or a sum waits for the one before it.
    let a = Number.NEGATIVE_INFINITY;
    let b = a;
    let c = a;
    let d = a;
    const end = Math.min((block + 1) * BLOCK_TOKENS, logits.length);
    let token = block * BLOCK_TOKENS;
    for (; token + 4 <= end; token += 4) {
      const first = logits[token]!;
      const second = logits[token + 1]!;
      const third = logits[token + 2]!;
      const fourth = logits[token + 3]!;
      if (first > a) a = first;
      if (second > b) b = second;
      if (third > c) c = third;
      if (fourth > d) d = fourth;
      sum += first + second + (third + fourth);
    }
    for (; token < end; token++) {
      const last = logits[token]!;
      if (last > a) a = last;
      sum += last;
    }
    if (c > a) a = c;
    if (d > b) b = d;
    const peak = a > b ? a : b;
    blocks[block] = peak;
    if (peak > highest) highest = peak;
  }
  if (Number.isNaN(sum) || !Number.isFinite(highest)) {
    throw new SpeechError("model_unusable", "The decoder gave what are no probabilities of tokens.");
  }
  return { highest, blocks };
}

function likeliestToken(logits: Float32Array, { highest, blocks }: Peaks): number {
  return logits.indexOf(highest, blocks.indexOf(highest) * BLOCK_TOKENS);
}

/** Natural logarithm of the sum of the logits' exponentials. */
function logSumExp(logits: Float32Array, { highest, blocks }: Peaks): number {
  const negligible = highest - NEGLIGIBLE_BELOW;
  let sum = 0;
  for (let block = 0; block < blocks.length; block++) {
    if (blocks[block]! <= negligible) continue;
    const end = Math.min((block + 1) * BLOCK_TOKENS, logits.length);
    for (let token = block * BLOCK_TOKENS; token < end; token++) {
      const logit = logits[token]!;
      if (logit > negligible) sum += Math.exp(logit - highest);
    }
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
