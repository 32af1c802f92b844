import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import type { AttentionHead } from "../../onnx/seq2seq-decoder.ts";

/**
 * Finds the attention heads that follow time if the model's files do not name them. As in the published
 * decoder they are searched in the upper half of the layers; unlike there, only those heads are used that, on
 * the utterance itself, focus on one place (mean peak of attention) that advances with the text (correlation
 * of the place with the step).
 */

const CHOSEN_HEADS = 6;
/** Heads with less than this share of the best score reduce accuracy. */
const MIN_SHARE_OF_BEST = 0.5;
/** With fewer steps, a correlation may be random. */
const MIN_STEPS = 4;

/** Returns the heads among which to choose. */
export function candidateHeads(
  layers: readonly number[],
  decoderLayers: number,
  heads: number,
): AttentionHead[] {
  return layers
    .filter((layer) => layer >= Math.floor(decoderLayers / 2))
    .flatMap((layer) => Array.from({ length: heads }, (_, head) => ({ layer, head })));
}

/** Returns the attention, `[steps, heads, frames]`, of only the heads that follow time best. */
export function attentionThatFollowsTime(sequence: DecodedSequence, heads: number): Float32Array {
  const { attention, steps, frames } = sequence;
  if (steps < MIN_STEPS || heads <= 1) return attention;
  const scores = Array.from({ length: heads }, (_, head) => followsTime(sequence, head, heads));
  const ranked = scores.map((score, head) => ({ score, head })).toSorted((a, b) => b.score - a.score);
  const needed = (ranked[0]?.score ?? 0) * MIN_SHARE_OF_BEST;
  const chosen = ranked.slice(0, CHOSEN_HEADS).filter(({ score }) => score >= needed);
  const kept = new Float32Array(steps * chosen.length * frames);
  for (let step = 0; step < steps; step++) {
    for (const [place, { head }] of chosen.entries()) {
      const from = (step * heads + head) * frames;
      kept.set(attention.subarray(from, from + frames), (step * chosen.length + place) * frames);
    }
  }
  return kept;
}

/** 0 … 1 */
function followsTime({ attention, steps, frames }: DecodedSequence, head: number, heads: number): number {
  const places: number[] = [];
  let peaks = 0;
  for (let step = 0; step < steps; step++) {
    const from = (step * heads + head) * frames;
    let sum = 1e-9;
    let moment = 0;
    let highest = 0;
    for (let frame = 0; frame < frames; frame++) {
      const value = attention[from + frame] as number;
      sum += value;
      moment += value * frame;
      highest = Math.max(highest, value);
    }
    places.push(moment / sum);
    peaks += highest;
  }
  return (Math.max(0, correlationWithOrder(places)) * peaks) / steps;
}

/** Pearson correlation of the values with their indices; 0 if all values are the same. */
function correlationWithOrder(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let together = 0;
  let ofValues = 0;
  let ofIndices = 0;
  for (const [index, value] of values.entries()) {
    together += (value - mean) * (index - middle);
    ofValues += (value - mean) ** 2;
    ofIndices += (index - middle) ** 2;
  }
  return ofValues === 0 ? 0 : together / Math.sqrt(ofValues * ofIndices);
}
