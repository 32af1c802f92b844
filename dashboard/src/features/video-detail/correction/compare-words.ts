import { joinWords } from "@subtext/captions/script";
import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { correction as texts } from "../../../messages/en/correction.ts";

/** Half-open ranges of words that differ. */
export interface Difference {
  before: { from: number; to: number };
  after: { from: number; to: number };
}

/**
 * Compares two versions of a transcript. By default, words are equal if their text and times are. One pass is enough,
 * because edits keep the times of unchanged words and both versions are sorted by time.
 */
export function compareWords(
  before: readonly EditableWord[],
  after: readonly EditableWord[],
  isSame: (a: EditableWord, b: EditableWord) => boolean = hasSameTextAndTimes,
): Difference[] {
  const differences: Difference[] = [];
  let [i, j, fromBefore, fromAfter] = [0, 0, 0, 0];
  const close = () => {
    if (i === fromBefore && j === fromAfter) return;
    differences.push({ before: { from: fromBefore, to: i }, after: { from: fromAfter, to: j } });
  };
  while (i < before.length && j < after.length) {
    const [left, right] = [before[i]!, after[j]!];
    if (isSame(left, right)) {
      close();
      [fromBefore, fromAfter] = [++i, ++j];
      continue;
    }
    const order = left.start - right.start || left.end - right.end;
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  [i, j] = [before.length, after.length];
  close();
  return differences;
}

export function isSameWord(a: EditableWord, b: EditableWord): boolean {
  return (
    a === b ||
    (hasSameTextAndTimes(a, b) &&
      a.speaker === b.speaker &&
      a.confidence === b.confidence &&
      a.channel === b.channel)
  );
}

/** Ignores speaker, confidence and channel. */
export function hasSameTextAndTimes(a: EditableWord, b: EditableWord): boolean {
  return a.word === b.word && a.start === b.start && a.end === b.end;
}

export interface DiffPart {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Number of unchanged words shown before and after each change. */
const CONTEXT_WORDS = 6;

/** Describes what changed between two revisions; empty if nothing did. Omits unchanged text that is far from a change. */
export function describeChanges(before: readonly EditableWord[], after: readonly EditableWord[]): DiffPart[] {
  const parts: DiffPart[] = [];
  let [unchanged, changeCount] = [0, 0];
  const push = (kind: DiffPart["kind"], words: readonly string[]) => {
    if (words.length > 0) parts.push({ kind, text: joinTexts(words) });
  };
  const pushUnchanged = (to: number, isLast: boolean) => {
    const words = after.slice(unchanged, to).map(({ word }) => word);
    if (words.length <= 2 * CONTEXT_WORDS) {
      push("same", words);
      return;
    }
    const head = parts.length === 0 ? [] : words.slice(0, CONTEXT_WORDS);
    push("same", [...head, "…", ...(isLast ? [] : words.slice(-CONTEXT_WORDS))]);
  };
  for (const change of withSpeakers(compareWords(before, after), before, after)) {
    pushUnchanged(change.after.from, false);
    push(
      "removed",
      before.slice(change.before.from, change.before.to).map(({ word }) => word),
    );
    push("added", change.speaker === null ? [] : [`${change.speaker}:`]);
    push(
      "added",
      after.slice(change.after.from, change.after.to).map(({ word }) => word),
    );
    unchanged = change.after.to;
    changeCount++;
  }
  if (changeCount > 0) pushUnchanged(after.length, true);
  return parts;
}

/** Joins words with spaces, except in scripts without them, such as Thai. */
export function joinTexts(texts: readonly string[]): string {
  return joinWords(texts.map((word) => ({ word })));
}

interface Change extends Difference {
  /** The new speaker from here on; null if the speaker did not change. */
  speaker: string | null;
}

/** Adds a change wherever the words are the same but the speaker is not. */
function withSpeakers(
  differences: readonly Difference[],
  before: readonly EditableWord[],
  after: readonly EditableWord[],
): Change[] {
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  /** The new speaker of the previous word; undefined if its speaker did not change. */
  let named: string | null | undefined;
  const end = { from: before.length, to: before.length };
  for (const difference of [
    ...differences,
    { before: end, after: { from: after.length, to: after.length } },
  ]) {
    for (; j < difference.after.from; i++, j++) {
      const speaker = after[j]!.speaker;
      const isChanged = speaker !== before[i]!.speaker;
      const continues = isChanged && speaker === named;
      named = isChanged ? speaker : undefined;
      if (!isChanged || continues) continue;
      changes.push({
        before: { from: i, to: i },
        after: { from: j, to: j },
        speaker: speaker ?? texts.noSpeaker,
      });
    }
    if (difference.before !== end) changes.push({ ...difference, speaker: null });
    [i, j] = [difference.before.to, difference.after.to];
  }
  return changes;
}
