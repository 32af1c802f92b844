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

/** Compares the texts of two revisions word by word. Unchanged text that is far from a change is omitted. */
export function diffWords(before: readonly EditableWord[], after: readonly EditableWord[]): DiffPart[] {
  const label = ({ word, speaker }: EditableWord) => JSON.stringify([word, speaker]);
  const parts: DiffPart[] = [];
  let end = 0;
  for (const { buffer1, buffer2 } of diffIndices(before.map(label), after.map(label))) {
    const [removedFrom, removedCount] = buffer1;
    const [addedFrom, addedCount] = buffer2;
    pushUnchanged(parts, before.slice(end, removedFrom));
    end = removedFrom + removedCount;
    push(parts, "removed", textWithSpeakers(before.slice(removedFrom, end)));
    push(parts, "added", textWithSpeakers(after.slice(addedFrom, addedFrom + addedCount)));
  }
  if (parts.length > 0) pushUnchanged(parts, before.slice(end), true);
  return parts;
}

const CONTEXT_WORDS = 6;

function pushUnchanged(parts: DiffPart[], words: readonly EditableWord[], isLast = false): void {
  const isFirst = parts.length === 0;
  if (words.length <= 2 * CONTEXT_WORDS) {
    push(parts, "same", textOf(words));
    return;
  }
  const head = isFirst ? "" : textOf(words.slice(0, CONTEXT_WORDS));
  const tail = isLast ? "" : textOf(words.slice(-CONTEXT_WORDS));
  push(parts, "same", `${head} … ${tail}`.trim());
}

function push(parts: DiffPart[], kind: DiffPart["kind"], text: string): void {
  if (text !== "") parts.push({ kind, text });
}

export function textOf(words: readonly EditableWord[]): string {
  return words.map(({ word }) => word).join(" ");
}

/** Contains the names of speakers, so that a diff shows their changes. */
function textWithSpeakers(words: readonly EditableWord[]): string {
  let speaker: string | null = null;
  return words
    .map((each) => {
      const label = each.speaker !== null && each.speaker !== speaker ? `${each.speaker}: ` : "";
      speaker = each.speaker;
      return label + each.word;
    })
    .join(" ");
}
