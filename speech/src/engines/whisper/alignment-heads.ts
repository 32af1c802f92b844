import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import type { AttentionHead } from "../../onnx/seq2seq-decoder.ts";

const CHOSEN_HEADS = 6;
/** Heads with a lower share of the best score reduce accuracy. */
const MIN_SHARE_OF_BEST = 0.5;
/** With fewer steps, a correlation may be coincidence. */
const MIN_STEPS = 4;

/** Returns the candidates if the model's files name no alignment heads: the heads in the upper half of the layers. */
export function candidateHeads(
  layers: readonly number[],
  decoderLayers: number,
  heads: number,
): AttentionHead[] {
  return layers
    .filter((layer) => layer >= Math.floor(decoderLayers / 2))
    .flatMap((layer) => Array.from({ length: heads }, (_, head) => ({ layer, head })));
}

/**
 * Returns the attention of the best alignment heads only, `[steps, heads, frames]`. A good head attends to one frame per
 * step, which advances with the text. OpenAI's decoder averages all candidates instead.
 */
export function selectTimeHeads(sequence: DecodedSequence, heads: number): Float32Array {
  const { attention, steps, frames } = sequence;
  if (steps < MIN_STEPS || heads <= 1) return attention;
  const scores = Array.from({ length: heads }, (_, head) => alignmentScore(sequence, head, heads));
  const ranked = scores.map((score, head) => ({ score, head })).toSorted((a, b) => b.score - a.score);
  const needed = (ranked[0]?.score ?? 0) * MIN_SHARE_OF_BEST;
  const chosen = ranked.slice(0, CHOSEN_HEADS).filter(({ score }) => score >= needed);
  const kept = new Float32Array(steps * chosen.length * frames);
  for (let step = 0; step < steps; step++) {
    for (const [index, { head }] of chosen.entries()) {
      const from = (step * heads + head) * frames;
      kept.set(attention.subarray(from, from + frames), (step * chosen.length + index) * frames);
    }
  }
  return kept;
}

/** Returns 0 … 1: mean peak of the attention × correlation of its center with the step. */
function alignmentScore({ attention, steps, frames }: DecodedSequence, head: number, heads: number): number {
  const centers: number[] = [];
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
    centers.push(moment / sum);
    peaks += highest;
  }
  return (Math.max(0, correlationWithOrder(centers)) * peaks) / steps;
}

/** Returns the Pearson correlation of the values with their indexes, or 0 if all values are the same. */
function correlationWithOrder(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let covariance = 0;
  let valueVariance = 0;
  let indexVariance = 0;
  for (const [index, value] of values.entries()) {
    covariance += (value - mean) * (index - middle);
    valueVariance += (value - mean) ** 2;
    indexVariance += (index - middle) ** 2;
  }
  return valueVariance === 0 ? 0 : covariance / Math.sqrt(valueVariance * indexVariance);
}
