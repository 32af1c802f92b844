import type { DecodedSequence } from "./onnx/seq2seq.ts";

/**
 * Word times out of cross-attention: which frames the decoder looked at while it wrote each token.
 *
 * The way of Whisper's own word timestamps (median filter over frames, dynamic time warping), with free
 * ends: frames before the first and after the last token cost a constant each, so that words do not
 * swallow the silence around them.
 */

/** The frames of one token: `[start, end)`. */
export interface FrameSpan {
  start: number;
  end: number;
}

const MEDIAN_FRAMES = 7;
const ATTENTION_FLOOR = 1e-3;
/** What a frame outside all words costs; between that of a frame attended to and of one that is not. */
const SKIPPED_FRAME_COST = 3.5;

/**
 * The likeliest monotonic path through tokens and frames; every token gets one frame at least.
 * @param attention As `decodeGreedy` gives it; at least one head.
 * @returns A span for each step, in order, not overlapping. Where there are fewer frames than steps, the
 * frames are shared out evenly.
 */
export function alignTokens(attention: Pick<DecodedSequence, "attention" | "steps" | "frames">): FrameSpan[] {
  const { steps, frames } = attention;
  if (steps === 0) return [];
  if (frames < steps) {
    return Array.from({ length: steps }, (_, step) => ({
      start: (step * frames) / steps,
      end: ((step + 1) * frames) / steps,
    }));
  }
  return cheapestPath(attentionCosts(attention), steps, frames);
}

/** `[steps, frames]`: −log of the attention, a mean over heads normalised over tokens. */
function attentionCosts({
  attention,
  steps,
  frames,
}: Pick<DecodedSequence, "attention" | "steps" | "frames">): Float32Array {
  const heads = attention.length / (steps * frames);
  const costs = new Float32Array(steps * frames);
  const row = new Float32Array(frames);
  const filtered = new Float32Array(steps * frames);
  for (let head = 0; head < heads; head++) {
    for (let step = 0; step < steps; step++) {
      const start = (step * heads + head) * frames;
      row.set(attention.subarray(start, start + frames));
      medianFilter(row, filtered.subarray(step * frames, (step + 1) * frames));
    }
    for (let frame = 0; frame < frames; frame++) {
      let sum = 0;
      for (let step = 0; step < steps; step++) sum += filtered[step * frames + frame] as number;
      const share = sum > 0 ? 1 / (sum * heads) : 0;
      for (let step = 0; step < steps; step++) {
        const place = step * frames + frame;
        costs[place] = (costs[place] as number) + (filtered[place] as number) * share;
      }
    }
  }
  for (let i = 0; i < costs.length; i++) costs[i] = -Math.log((costs[i] as number) + ATTENTION_FLOOR);
  return costs;
}

function medianFilter(values: Float32Array, filtered: Float32Array): void {
  const half = MEDIAN_FRAMES >> 1;
  const window = new Float32Array(MEDIAN_FRAMES);
  for (let frame = 0; frame < values.length; frame++) {
    for (let i = 0; i < MEDIAN_FRAMES; i++) {
      const place = Math.min(values.length - 1, Math.max(0, frame + i - half));
      window[i] = values[place] as number;
    }
    filtered[frame] = window.sort()[half] as number;
  }
}

/** Dynamic programming over (token, frame): stay in the token or move to the next; ends are free. */
function cheapestPath(costs: Float32Array, steps: number, frames: number): FrameSpan[] {
  const total = new Float64Array(steps * frames).fill(Number.POSITIVE_INFINITY);
  const stayed = new Uint8Array(steps * frames);
  for (let step = 0; step < steps; step++) {
    for (let frame = step; frame < frames; frame++) {
      const place = step * frames + frame;
      const stay = frame > 0 ? (total[place - 1] as number) : Number.POSITIVE_INFINITY;
      const enter =
        step === 0
          ? frame * SKIPPED_FRAME_COST
          : frame > 0
            ? (total[place - frames - 1] as number)
            : Number.POSITIVE_INFINITY;
      stayed[place] = stay < enter ? 1 : 0;
      total[place] = Math.min(stay, enter) + (costs[place] as number);
    }
  }
  const lastRow = (steps - 1) * frames;
  let frame = frames - 1;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let end = steps - 1; end < frames; end++) {
    const cost = (total[lastRow + end] as number) + (frames - 1 - end) * SKIPPED_FRAME_COST;
    if (cost < cheapest) {
      cheapest = cost;
      frame = end;
    }
  }
  const spans: FrameSpan[] = [];
  for (let step = steps - 1; step >= 0; step--) {
    const end = frame + 1;
    while (stayed[step * frames + frame]) frame--;
    spans.push({ start: frame, end });
    frame--;
  }
  return spans.reverse();
}
