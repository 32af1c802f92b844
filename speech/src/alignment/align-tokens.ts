import type { DecodedSequence } from "../onnx/decode-sequences.ts";

export interface AlignmentInput extends Pick<DecodedSequence, "attention" | "steps"> {
  /** Frames of the utterance, without padding. */
  frames: number;
  /** Frames of `attention`, including padding. */
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
// Costs are on the scale of −log(attention share), which is 0 … 6.9. They were tuned on 100 synthetic utterances in ten
// voices, with and without noise, and verified on 100 others.
const PAUSE_COST_QUIET = 0.4;
const PAUSE_COST_LOUD = 4;
const PAUSE_BEGIN_COST = 2;
const WORD_COST_QUIET = 0.5;

/**
 * Finds the frames of each token from cross-attention, i.e. from the frames that the decoder attended to when it wrote
 * the token. Whisper's own method, dynamic time warping, assigns every frame to a token, so words absorb the pauses next
 * to them. Here the path may pause before, between and after words, which is cheap in quiet frames.
 * @returns a span for each step, in order and without overlaps. A span has at least one frame, or a fraction of a frame
 * if there are more steps than frames.
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

/** Returns −log of each token's share of a frame's attention, averaged over the heads, `[steps, frames]`. */
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
    for (let index = 0; index < costs.length; ) {
      for (let frame = 0; frame < frames; frame++, index++) {
        costs[index] = costs[index]! + filtered[index]! / sums[frame]!;
      }
    }
  }
  for (let index = 0; index < costs.length; ) {
    for (let frame = 0; frame < frames; frame++, index++) {
      costs[index] = WORD_COST_QUIET * quiet[frame]! - Math.log(costs[index]! + ATTENTION_FLOOR);
    }
  }
  return costs;
}

/**
 * Writes the median of each value and its two neighbors. The first and the last value are repeated at the ends. The
 * values are the bits of non-negative floats, whose order is the same. Integers are three times as fast, because their
 * minimum can be computed without an unpredictable branch.
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
  // Reads outside the array would double the running time.
  for (let index = 0; index < count; index++) {
    const after = index + 1 < count ? values[from + index + 1]! : here;
    const step = minWithZero(before - here);
    const low = here + step;
    const high = before - step;
    const upper = after + minWithZero(high - after);
    filtered[to + index] = low - minWithZero(low - upper);
    before = here;
    here = after;
  }
}

function minWithZero(difference: number): number {
  return difference & (difference >> 31);
}

/**
 * Runs the Viterbi algorithm over the states pause, token, pause, token, …, pause. State 2k + 1 is token k. State 2k is
 * the pause before it, which is allowed only if the token starts a word. The last state is the pause after all tokens.
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
