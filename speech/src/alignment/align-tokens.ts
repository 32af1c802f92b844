import type { DecodedSequence } from "../onnx/decode-sequences.ts";

/**
 * Word times from cross-attention: which frames the decoder attended to while it wrote each token.
 *
 * Whisper's own word timestamps warp tokens onto all frames (dynamic time warping over attention), so the
 * words beside a pause absorb it: attention carries little information about frames without speech. Here the
 * path may also pause between two words, before the first and after the last, and pausing is cheap if the
 * sound is quiet.
 */

export interface AlignmentInput extends Pick<DecodedSequence, "attention" | "steps"> {
  /** Frames of the utterance; those after them are padding. */
  frames: number;
  /** Frames that `attention` has values for, padding included. */
  attentionFrames: number;
  /** For each step, whether its token starts a word. */
  wordStarts: readonly boolean[];
  /** For each frame: 0 (speech) … 1 (silence). */
  quiet: Float32Array;
}

/** The frames of one token: `[start, end)`. */
export interface FrameSpan {
  start: number;
  end: number;
}

const ATTENTION_FLOOR = 1e-3;
// Costs are natural logarithms, comparable to −log(attention share), which is 0 … 6.9. Tuned on 100 synthetic
// utterances in ten voices, with and without noise, and verified on 100 others.
const PAUSE_COST_QUIET = 0.4;
const PAUSE_COST_LOUD = 4;
const PAUSE_BEGIN_COST = 2;
const WORD_COST_QUIET = 0.5;

/**
 * Finds the most likely path through tokens, pauses and frames. Every token gets at least one frame.
 * @returns A span for each step, in order, not overlapping, inside `frames`. If there are fewer frames than
 * steps, all tokens get the same fraction of a frame.
 */
export function alignTokens(input: AlignmentInput): FrameSpan[] {
  const { steps, frames } = input;
  if (frames < steps) {
    return Array.from({ length: steps }, (_, step) => ({
      start: (step * frames) / steps,
      end: ((step + 1) * frames) / steps,
    }));
  }
  return steps === 0 ? [] : cheapestPath(tokenCosts(input), input);
}

/** `[steps, frames]`: −log of each token's share of a frame's attention, averaged over the heads. */
function tokenCosts({ attention, steps, frames, attentionFrames, quiet }: AlignmentInput): Float32Array {
  const heads = attention.length / (steps * attentionFrames);
  const costs = new Float32Array(steps * frames);
  const filtered = new Float32Array(steps * frames);
  const attentionBits = new Int32Array(attention.buffer, attention.byteOffset, attention.length);
  const filteredBits = new Int32Array(filtered.buffer);
  const sums = new Float64Array(frames);
  for (let head = 0; head < heads; head++) {
    sums.fill(1e-9);
    for (let step = 0; step < steps; step++) {
      const to = step * frames;
      medianFilter(attentionBits, (step * heads + head) * attentionFrames, filteredBits, to, frames);
      for (let frame = 0; frame < frames; frame++) sums[frame] = sums[frame]! + filtered[to + frame]!;
    }
    for (let frame = 0; frame < frames; frame++) sums[frame] = sums[frame]! * heads;
    for (let place = 0; place < costs.length; ) {
      for (let frame = 0; frame < frames; frame++, place++) {
        costs[place] = costs[place]! + filtered[place]! / sums[frame]!;
      }
    }
  }
  for (let place = 0; place < costs.length; ) {
    for (let frame = 0; frame < frames; frame++, place++) {
      costs[place] = WORD_COST_QUIET * quiet[frame]! - Math.log(costs[place]! + ATTENTION_FLOOR);
    }
  }
  return costs;
}

/**
 * Median of each value and its two neighbors; the first and the last value are repeated at the ends. Values
 * are the bits of non-negative floats, which have the same order as the floats. The minimum of two integers
 * needs no branch, which the processor could not predict; that is three times as fast.
 */
function medianFilter(
  values: Int32Array,
  from: number,
  filtered: Int32Array,
  to: number,
  count: number,
): void {
  let before = values[from]!;
  let here = before;
  // Does not read beyond the ends, which would cost as much as everything else.
  for (let index = 0; index < count; index++) {
    const after = index + 1 < count ? values[from + index + 1]! : here;
    const step = belowZero(before - here);
    const low = here + step;
    const high = before - step;
    const upper = after + belowZero(high - after);
    filtered[to + index] = low - belowZero(low - upper);
    before = here;
    here = after;
  }
}

/** Returns the number if it is negative, else 0. */
function belowZero(difference: number): number {
  return difference & (difference >> 31);
}

/**
 * Viterbi algorithm over the states pause, token, pause, token, … pause. State 2k is a pause before token k
 * (allowed if the token starts a word, and after the last token), state 2k + 1 is token k.
 */
function cheapestPath(
  costs: Float32Array,
  { steps, frames, wordStarts, quiet }: AlignmentInput,
): FrameSpan[] {
  const states = 2 * steps + 1;
  const cameFrom = new Uint8Array(frames * states);
  let before = new Float64Array(states).fill(Number.POSITIVE_INFINITY);
  let now = new Float64Array(states);
  for (let frame = 0; frame < frames; frame++) {
    const loudShare = 1 - (quiet[frame] as number);
    const pauseCost = PAUSE_COST_QUIET + (PAUSE_COST_LOUD - PAUSE_COST_QUIET) * loudShare;
    for (let state = 0; state < states; state++) {
      const token = state >> 1;
      const isPause = state % 2 === 0;
      if (isPause && state > 0 && token < steps && !wordStarts[token]) {
        now[state] = Number.POSITIVE_INFINITY;
        continue;
      }
      const beginCost = isPause && token < steps ? PAUSE_BEGIN_COST : 0;
      let cheapest = frame === 0 ? (state < 2 ? 0 : Number.POSITIVE_INFINITY) : (before[state] as number);
      let steppedBy = 0;
      if (state >= 1 && (before[state - 1] as number) + beginCost < cheapest) {
        cheapest = (before[state - 1] as number) + beginCost;
        steppedBy = 1;
      }
      if (!isPause && state >= 3 && (before[state - 2] as number) < cheapest) {
        cheapest = before[state - 2] as number;
        steppedBy = 2;
      }
      now[state] = cheapest + (isPause ? pauseCost : (costs[token * frames + frame] as number));
      cameFrom[frame * states + state] = steppedBy;
    }
    [before, now] = [now, before];
  }

  const spans = Array.from({ length: steps }, (): FrameSpan => ({ start: 0, end: 0 }));
  let state = (before[states - 1] as number) < (before[states - 2] as number) ? states - 1 : states - 2;
  for (let frame = frames - 1; frame >= 0; frame--) {
    const span = state % 2 === 1 ? spans[state >> 1] : undefined;
    if (span) {
      span.start = frame;
      span.end ||= frame + 1;
    }
    state -= cameFrom[frame * states + state] as number;
  }
  return spans;
}
