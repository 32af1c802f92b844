import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { diff3MergeRegions, diffIndices } from "node-diff3";

/** A place that two people changed differently. */
export interface Conflict {
  mine: readonly EditableWord[];
  theirs: readonly EditableWord[];
}

export interface Merge {
  words: EditableWord[];
  /** The merged words contain `mine` at these places. */
  conflicts: Conflict[];
}

/**
 * Merges two changes of the same words. Words count as unchanged only with the same time, which distinguishes repeated
 * words.
 */
export function mergeWords(
  base: readonly EditableWord[],
  mine: readonly EditableWord[],
  theirs: readonly EditableWord[],
): Merge {
  const words: EditableWord[] = [];
  const conflicts: Conflict[] = [];
  for (const region of diff3MergeRegions(mine.map(identity), base.map(identity), theirs.map(identity))) {
    if (region.stable) {
      const source = region.buffer === "a" ? mine : region.buffer === "b" ? theirs : base;
      words.push(...source.slice(region.bufferStart, region.bufferStart + region.bufferLength));
      continue;
    }
    const ours = mine.slice(region.aStart, region.aStart + region.aLength);
    const others = theirs.slice(region.bStart, region.bStart + region.bLength);
    words.push(...ours);
    if (textOf(ours) !== textOf(others)) conflicts.push({ mine: ours, theirs: others });
  }
  return { words: inOrder(words), conflicts };
}

/** Two people may have used the same pause for new words. */
function inOrder(words: readonly EditableWord[]): EditableWord[] {
  let end = 0;
  return words.map((word) => {
    if (word.start >= end) {
      end = word.end;
      return word;
    }
    const moved = { ...word, start: end, end: Math.max(end, word.end) };
    end = moved.end;
    return moved;
  });
}

function identity({ word, start, end, speaker, confidence }: EditableWord): string {
  return JSON.stringify([word, start, end, speaker, confidence]);
}

export interface DiffPart {
  kind: "same" | "removed" | "added";
  text: string;
}

/**
 * Compares the texts of two revisions word by word. Names of speakers are words too, followed by a colon. Unchanged text
 * that is far from a change is omitted.
 */
export function diffWords(before: readonly EditableWord[], after: readonly EditableWord[]): DiffPart[] {
  const [old, current] = [textsWithSpeakers(before), textsWithSpeakers(after)];
  const parts: DiffPart[] = [];
  let end = 0;
  for (const { buffer1, buffer2 } of diffIndices(old, current)) {
    const [removedFrom, removedCount] = buffer1;
    const [addedFrom, addedCount] = buffer2;
    pushUnchanged(parts, old.slice(end, removedFrom));
    end = removedFrom + removedCount;
    push(parts, "removed", old.slice(removedFrom, end));
    push(parts, "added", current.slice(addedFrom, addedFrom + addedCount));
  }
  if (parts.length > 0) pushUnchanged(parts, old.slice(end), true);
  return parts;
}

const CONTEXT_WORDS = 6;

function pushUnchanged(parts: DiffPart[], texts: readonly string[], isLast = false): void {
  if (texts.length <= 2 * CONTEXT_WORDS) {
    push(parts, "same", texts);
    return;
  }
  const head = parts.length === 0 ? [] : texts.slice(0, CONTEXT_WORDS);
  const tail = isLast ? [] : texts.slice(-CONTEXT_WORDS);
  push(parts, "same", [...head, "…", ...tail]);
}

function push(parts: DiffPart[], kind: DiffPart["kind"], texts: readonly string[]): void {
  if (texts.length > 0) parts.push({ kind, text: texts.join(" ") });
}

function textsWithSpeakers(words: readonly EditableWord[]): string[] {
  let last: string | null = null;
  return words.flatMap(({ word, speaker }) => {
    const isNew = speaker !== last;
    last = speaker;
    return isNew && speaker !== null ? [`${speaker}:`, word] : [word];
  });
}

export function textOf(words: readonly EditableWord[]): string {
  return words.map(({ word }) => word).join(" ");
}
