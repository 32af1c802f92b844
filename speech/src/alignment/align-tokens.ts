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
  /** For each frame, the log odds that a word starts in it; null if unknown. */
  onsets: Float32Array | null;
  /** For each step, the number of letters of its token, which indicates its duration; null if unknown. */
  letters: readonly number[] | null;
}

/** The frames of one token: `[start, end)`. Not always integers: word starts are refined, and tokens may share a frame. */
export interface FrameSpan {
  start: number;
  end: number;
}

const ATTENTION_FLOOR = 1e-3;
// Costs are on the scale of −log(attention share), which is 0 … 6.9. They were tuned on 100 synthetic utterances in ten
// voices, with and without noise, and verified on 100 others. The weights of word starts and durations matter little for
// synthetic voices, so they were tuned on a recording of a real voice.
const PAUSE_COST_QUIET = 0.4;
const PAUSE_COST_LOUD = 4;
const PAUSE_BEGIN_COST = 2;
const WORD_COST_QUIET = 0.5;
/** Weight of the log odds of word starts. Attention shows which word is spoken, but not exactly where it starts. */
const ONSET_WEIGHT = 3;
/** A token that takes e times as long as expected costs this much. */
const DURATION_COST = 5;
/** Added to the letters of each token, because short tokens take longer per letter. */
const TOKEN_LETTERS = 1;
/** Maximum duration of a token relative to the expected one. Saves computing time. */
const MAX_STRETCH = 8;
const MAX_TOKEN_FRAMES = 100;
/** Every token keeps at least this share of a frame when word starts are moved. */
const MIN_FRAME_SHARE = 0.1;
const NO_PAUSE = new Int16Array(0);

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
  if (steps === 0) return [];
  const spans = cheapestPath(tokenCosts(input), input);
  if (input.onsets !== null) refineWordStarts(spans, input.wordStarts, input.onsets);
  return spans;
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
 * Finds the cheapest sequence pause, token, pause, token, …, pause by dynamic programming over tokens and the frames at
 * which they end (a semi-Markov model). Pauses may be empty, and inside a word they always are.
 */
function cheapestPath(costs: Float32Array, input: AlignmentInput): FrameSpan[] {
  const { steps, frames, wordStarts, quiet, onsets } = input;
  const pauseSums = prefixSums(
    quiet.map((share) => PAUSE_COST_QUIET + (PAUSE_COST_LOUD - PAUSE_COST_QUIET) * (1 - share)),
  );
  const expectedFrames = expectedDurations(input);
  const pauseStarts: Int16Array[] = [];
  const tokenStarts: Int16Array[] = [];
  // The cost of the cheapest path that reaches each frame.
  let reached = new Float64Array(frames + 1).fill(Number.POSITIVE_INFINITY);
  reached[0] = 0;
  for (let step = 0; step <= steps; step++) {
    const isEdge = step === 0 || step === steps;
    pauseStarts.push(
      isEdge || wordStarts[step] ? addPause(reached, pauseSums, isEdge ? 0 : PAUSE_BEGIN_COST) : NO_PAUSE,
    );
    if (step === steps) break;
    if (onsets !== null && wordStarts[step]) {
      for (let frame = 0; frame < frames; frame++) {
        reached[frame] = reached[frame]! - ONSET_WEIGHT * onsets[frame]!;
      }
    }
    const token = addToken(
      reached,
      prefixSums(costs.subarray(step * frames, (step + 1) * frames)),
      durationCosts(expectedFrames?.[step] ?? null),
    );
    reached = token.reached;
    tokenStarts.push(token.starts);
  }

  const spans = Array.from({ length: steps }, (): FrameSpan => ({ start: 0, end: 0 }));
  let frame = frames;
  for (let step = steps; step > 0; step--) {
    const end = pauseStarts[step]![frame] ?? -1;
    if (end !== -1) frame = end;
    const start = tokenStarts[step - 1]![frame]!;
    spans[step - 1] = { start, end: frame };
    frame = start;
  }
  return spans;
}

/** Adds paths with a pause to `reached`. Returns the start of the pause for each frame at which one ends, else −1. */
function addPause(reached: Float64Array, pauseSums: Float64Array, beginCost: number): Int16Array {
  const starts = new Int16Array(reached.length).fill(-1);
  let cheapest = Number.POSITIVE_INFINITY;
  let start = -1;
  for (let frame = 0; frame < reached.length; frame++) {
    const unpaused = reached[frame]!;
    if (cheapest + pauseSums[frame]! < unpaused) {
      reached[frame] = cheapest + pauseSums[frame]!;
      starts[frame] = start;
    }
    if (unpaused + beginCost - pauseSums[frame]! < cheapest) {
      cheapest = unpaused + beginCost - pauseSums[frame]!;
      start = frame;
    }
  }
  return starts;
}

/** Extends all paths by a token. `starts` has the token's start for each frame at which it may end. */
function addToken(
  reachedBefore: Float64Array,
  costSums: Float64Array,
  durations: Float64Array,
): { reached: Float64Array<ArrayBuffer>; starts: Int16Array } {
  const reached = new Float64Array(reachedBefore.length).fill(Number.POSITIVE_INFINITY);
  const starts = new Int16Array(reachedBefore.length);
  for (let start = 0; start < reachedBefore.length - 1; start++) {
    const before = reachedBefore[start]! - costSums[start]!;
    if (before === Number.POSITIVE_INFINITY) continue;
    const longest = Math.min(durations.length - 1, reachedBefore.length - 1 - start);
    for (let duration = 1; duration <= longest; duration++) {
      const end = start + duration;
      const cost = before + costSums[end]! + durations[duration]!;
      if (cost < reached[end]!) {
        reached[end] = cost;
        starts[end] = start;
      }
    }
  }
  return { reached, starts };
}

/** Returns how many frames each token probably takes, at the pace of the utterance; null if letters are unknown. */
function expectedDurations({ letters, quiet }: AlignmentInput): number[] | null {
  if (letters === null) return null;
  const units = letters.map((count) => count + TOKEN_LETTERS);
  const speechFrames = quiet.reduce((sum, share) => sum + 1 - share, 0);
  const framesPerUnit = speechFrames / units.reduce((sum, count) => sum + count, 0);
  return units.map((count) => Math.max(1, count * framesPerUnit));
}

/** Returns the cost of each duration from 0 frames to the longest. */
function durationCosts(expectedFrames: number | null): Float64Array {
  if (expectedFrames === null) return new Float64Array(MAX_TOKEN_FRAMES + 1);
  const longest = Math.min(MAX_TOKEN_FRAMES, Math.ceil(MAX_STRETCH * expectedFrames));
  return Float64Array.from(
    { length: longest + 1 },
    (_, frames) => DURATION_COST * Math.log(frames / expectedFrames) ** 2,
  );
}

function prefixSums(values: Float32Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let index = 0; index < values.length; index++) sums[index + 1] = sums[index]! + values[index]!;
  return sums;
}

/**
 * Moves each word's start inside its frame or into a neighboring frame, to the mean position of the three frames, weighted
 * by the odds of a word start. The previous token ends there if there is no pause between them.
 */
function refineWordStarts(
  spans: readonly FrameSpan[],
  wordStarts: readonly boolean[],
  onsets: Float32Array,
): void {
  for (const [step, span] of spans.entries()) {
    if (!wordStarts[step]) continue;
    const frame = span.start;
    const [before, here, after] = [frame - 1, frame, frame + 1].map((at) =>
      Math.exp(onsets[at] ?? -Infinity),
    );
    const offset = 0.5 + (after! - before!) / (before! + here! + after!);
    const previous = spans[step - 1];
    const isAdjacent = previous?.end === frame;
    const earliest = isAdjacent ? previous.start + MIN_FRAME_SHARE : (previous?.end ?? 0);
    span.start = Math.min(Math.max(frame + offset, earliest), span.end - MIN_FRAME_SHARE);
    if (isAdjacent) previous.end = span.start;
  }
}
