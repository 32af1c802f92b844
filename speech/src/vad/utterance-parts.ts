import { SAMPLE_RATE } from "../media/audio.ts";
import type { SpokenUtterance } from "./utterances.ts";

/** The spans of speech `[from, to)` of an utterance. The part is cut in the middle of the adjacent pauses. */
export interface UtterancePart {
  whole: SpokenUtterance;
  from: number;
  to: number;
}

/** Returns the part as a new utterance, or the whole utterance if the part contains all of it. */
export function cutOut({ whole, from, to }: UtterancePart): SpokenUtterance {
  if (from === 0 && to === whole.speech.length) return whole;
  const first = from === 0 ? 0 : sampleInPause(whole, from);
  const last = to === whole.speech.length ? whole.samples.length : sampleInPause(whole, to);
  return {
    ...whole,
    samples: whole.samples.subarray(first, last),
    start: whole.start + first / SAMPLE_RATE,
    speech: whole.speech.slice(from, to),
  };
}

/** Splits an utterance at its pauses. Parts with less speech are joined with the neighbor across the shorter pause. */
export function partsAtPauses(whole: SpokenUtterance, minSpeechSeconds: number): UtterancePart[] {
  const parts = whole.speech.map((_, index) => ({ whole, from: index, to: index + 1 }));
  for (;;) {
    const short = parts.findIndex((part) => secondsOfPart(part) < minSpeechSeconds);
    if (short === -1 || parts.length === 1) return parts;
    const left =
      pauseBefore(whole, parts[short]!.from) <= pauseBefore(whole, parts[short]!.to) ? short - 1 : short;
    parts.splice(left, 2, { whole, from: parts[left]!.from, to: parts[left + 1]!.to });
  }
}

export function speechSeconds({ speech }: Pick<SpokenUtterance, "speech">): number {
  return speech.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Returns the time in the media after the last sample, seconds. */
export function endOf({ start, samples }: SpokenUtterance): number {
  return start + samples.length / SAMPLE_RATE;
}

function secondsOfPart({ whole, from, to }: UtterancePart): number {
  return speechSeconds({ speech: whole.speech.slice(from, to) });
}

/** Returns infinity before the first span and after the last. */
function pauseBefore({ speech }: SpokenUtterance, index: number): number {
  const before = speech[index - 1];
  const after = speech[index];
  if (before === undefined || after === undefined) return Number.POSITIVE_INFINITY;
  return after.start - before.end;
}

function sampleInPause({ samples, start, speech }: SpokenUtterance, index: number): number {
  const middle = (speech[index - 1]!.end + speech[index]!.start) / 2;
  return Math.min(samples.length, Math.max(0, Math.round((middle - start) * SAMPLE_RATE)));
}

export interface BatchLimits {
  utterances: number;
  /** A batch ends when it contains this much speech. */
  speechSeconds: number;
}

/** Divides utterances into batches in order. No batch is empty. */
export function inBatches(group: readonly SpokenUtterance[], limits: BatchLimits): SpokenUtterance[][] {
  const batches: SpokenUtterance[][] = [];
  let seconds = 0;
  for (const utterance of group) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= limits.utterances || seconds >= limits.speechSeconds) {
      batches.push([utterance]);
      seconds = 0;
    } else {
      last.push(utterance);
    }
    seconds += speechSeconds(utterance);
  }
  return batches;
}
