import { speechSeconds } from "./utterance-parts.ts";
import type { SpokenUtterance } from "./utterances.ts";

export interface BatchLimits {
  /** At most this many utterances … */
  utterances: number;
  /** … and no more once they hold this many seconds of speech. */
  speechSeconds: number;
}

/** Cuts utterances into batches, in order; none is empty. */
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
