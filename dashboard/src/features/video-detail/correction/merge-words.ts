import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { correction as texts } from "../../../messages/en/correction.ts";
import { compareWords, hasSameTextAndTimes, joinTexts } from "./compare-words.ts";
import { isSameSpeaker } from "./edited-transcript.ts";

/** A passage that both users changed, in different ways. The merged words contain `mine`. */
export interface Conflict {
  mine: string;
  theirs: string;
}

export interface Merge {
  words: EditableWord[];
  conflicts: Conflict[];
}

interface Versions {
  base: readonly EditableWord[];
  mine: readonly EditableWord[];
  theirs: readonly EditableWord[];
}

/**
 * Merges two people's changes to the same words. A word's text, speaker and confidence are merged separately, so one
 * person can name a speaker while another corrects words.
 */
export function mergeWords(
  base: readonly EditableWord[],
  mine: readonly EditableWord[],
  theirs: readonly EditableWord[],
): Merge {
  const [toMine, toTheirs] = [findUnchanged(base, mine), findUnchanged(base, theirs)];
  const merge: Merge = { words: [], conflicts: [] };
  let [b, m, t] = [0, 0, 0];
  for (let index = 0; index <= base.length; index++) {
    const isEnd = index === base.length;
    const nextMine = isEnd ? mine.length : toMine[index]!;
    const nextTheirs = isEnd ? theirs.length : toTheirs[index]!;
    if (nextMine < 0 || nextTheirs < 0) continue;
    const changed = {
      base: base.slice(b, index),
      mine: mine.slice(m, nextMine),
      theirs: theirs.slice(t, nextTheirs),
    };
    mergeChanged(changed, merge);
    if (!isEnd) merge.words.push(mergeDetails(base[index]!, mine[nextMine]!, theirs[nextTheirs]!, merge));
    [b, m, t] = [index + 1, nextMine + 1, nextTheirs + 1];
  }
  return { ...merge, words: inOrder(merge.words) };
}

/** For each word of `base`, returns its index in `changed`, or −1 if its text or time changed. */
function findUnchanged(base: readonly EditableWord[], changed: readonly EditableWord[]): Int32Array {
  const found = new Int32Array(base.length).fill(-1);
  let [i, j] = [0, 0];
  for (const { before, after } of compareWords(base, changed)) {
    while (i < before.from) found[i++] = j++;
    [i, j] = [before.to, after.to];
  }
  while (i < base.length) found[i++] = j++;
  return found;
}

function mergeChanged({ base, mine, theirs }: Versions, merge: Merge): void {
  if (isParallel(base, mine) && isParallel(base, theirs)) {
    for (const [index, word] of base.entries()) {
      merge.words.push(mergeWord(word, mine[index]!, theirs[index]!, merge));
    }
  } else if (isEqual(base, theirs)) merge.words.push(...withSpeakers(mine, base, theirs));
  else if (isEqual(base, mine)) merge.words.push(...withSpeakers(theirs, base, mine));
  else if (isEqual(mine, theirs)) {
    // I renamed the speaker of a word only if the base has no word of that speaker.
    const renamed = (word: EditableWord) =>
      base.length > 0 && !base.some((each) => isSameSpeaker(each, word));
    for (const [index, word] of mine.entries()) {
      const { speaker } = renamed(word) ? base[0]! : word;
      merge.words.push(mergeDetails({ ...word, speaker }, word, theirs[index]!, merge));
    }
  } else {
    addConflict(merge, textOf(mine), textOf(theirs));
    merge.words.push(...mine);
  }
}

function mergeWord(base: EditableWord, mine: EditableWord, theirs: EditableWord, merge: Merge): EditableWord {
  const details = mergeDetails(base, mine, theirs, merge);
  if (mine.word === base.word && theirs.word !== base.word) {
    return { ...details, word: theirs.word, confidence: theirs.confidence };
  }
  if (theirs.word !== base.word && theirs.word !== mine.word) addConflict(merge, mine.word, theirs.word);
  return details;
}

/** Merges the speaker and the confidence. A word that one person confirmed stays confirmed. */
function mergeDetails(
  base: EditableWord,
  mine: EditableWord,
  theirs: EditableWord,
  merge: Merge,
): EditableWord {
  const isMine = mine.speaker !== base.speaker;
  if (isMine && theirs.speaker !== base.speaker && mine.speaker !== theirs.speaker) {
    addConflict(merge, `${mine.speaker ?? texts.noSpeaker}:`, `${theirs.speaker ?? texts.noSpeaker}:`);
  }
  const speaker = isMine ? mine.speaker : theirs.speaker;
  const confidence = theirs.confidence === null ? null : mine.confidence;
  const isUnchanged = speaker === mine.speaker && confidence === mine.confidence;
  return isUnchanged ? mine : { ...mine, speaker, confidence };
}

/** Applies one person's speaker names to the words that the other person changed. */
function withSpeakers(
  words: readonly EditableWord[],
  base: readonly EditableWord[],
  named: readonly EditableWord[],
): readonly EditableWord[] {
  const names: { of: EditableWord; name: string | null }[] = [];
  for (const [index, word] of base.entries()) {
    const name = named[index]!.speaker;
    if (name !== word.speaker && !names.some(({ of }) => isSameSpeaker(of, word)))
      names.push({ of: word, name });
  }
  if (names.length === 0) return words;
  return words.map((word) => {
    const found = names.find(({ of }) => isSameSpeaker(of, word));
    return found ? { ...word, speaker: found.name } : word;
  });
}

/** Skips duplicates, because every word of a passage can have the same speaker conflict. */
function addConflict({ conflicts }: Merge, mine: string, theirs: string): void {
  if (conflicts.some((each) => each.mine === mine && each.theirs === theirs)) return;
  conflicts.push({ mine, theirs });
}

/** Removes overlaps, because two people may have inserted words into the same pause. */
function inOrder(words: readonly EditableWord[]): EditableWord[] {
  let end = 0;
  return words.map((word) => {
    const moved = word.start >= end ? word : { ...word, start: end, end: Math.max(end, word.end) };
    end = moved.end;
    return moved;
  });
}

function isParallel(a: readonly EditableWord[], b: readonly EditableWord[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ start, end }, index) => start === b[index]!.start && end === b[index]!.end)
  );
}

function isEqual(a: readonly EditableWord[], b: readonly EditableWord[]): boolean {
  return a.length === b.length && a.every((word, index) => hasSameTextAndTimes(word, b[index]!));
}

function textOf(words: readonly EditableWord[]): string {
  return joinTexts(words.map(({ word }) => word));
}
