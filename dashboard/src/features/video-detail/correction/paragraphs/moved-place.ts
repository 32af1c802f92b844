import { compareWords } from "../compare-words.ts";
import { type EditedTranscript, paragraphText, type WordPosition } from "../edited-transcript.ts";
import type { TextPosition } from "./word-range.ts";

/** A place in the text, relative to the word that contains or precedes it. */
export interface TextPlace extends WordPosition {
  /** Offset from the start of the word, in UTF-16 code units. Beyond the word's end, a space separates the place from it. */
  inWord: number;
}

export interface MovedPlace extends WordPosition, TextPosition {
  /** Whether what is typed here belongs to none of the adjacent words. */
  isBetween: boolean;
}

/**
 * Returns where a place is after a change. It stays in its word or in the one that replaced it, even if the paragraphs
 * have changed. If the word was deleted, it stays between the adjacent words.
 */
export function movePlace(
  { paragraph, word, inWord }: TextPlace,
  before: EditedTranscript,
  after: EditedTranscript,
): MovedPlace {
  const first = before.slice(0, paragraph).reduce((count, words) => count + words.length, 0);
  const index = first + word;
  const old = before[paragraph]![word];
  let moved = index;
  for (const { before: removed, after: added } of compareWords(before.flat(), after.flat())) {
    if (index < removed.from) break;
    moved = added.to + index - removed.to;
    if (index >= removed.to) continue;
    const replacing = added.from + index - removed.from;
    if (replacing < added.to) moved = replacing;
    else if (added.from < added.to) return atEdge(after, added.to - 1, "end", false);
    else return between(after, added.to, removed.from > first);
    break;
  }
  if (!old) return between(after, moved, false);
  const isApart = inWord > old.word.length;
  const end = atEdge(after, moved, "end", isApart);
  if (isApart) return end;
  const start = atEdge(after, moved, "start", false);
  return { ...start, offset: Math.min(start.offset + inWord, end.offset) };
}

/**
 * Returns the place before a word, or the end of the previous word if that is in the same paragraph.
 * @param index of a word in the entire transcript, or the number of words
 * @param isBehind whether to return the end of the previous word in any case
 */
function between(transcript: EditedTranscript, index: number, isBehind: boolean): MovedPlace {
  const count = transcript.flat().length;
  if (count === 0) return { paragraph: 0, word: -1, offset: 0, isBetween: true };
  const next = index < count ? atEdge(transcript, index, "start", true) : null;
  return next && next.word === 0 && !isBehind ? next : atEdge(transcript, index - 1, "end", true);
}

/** @param index of a word in the entire transcript */
function atEdge(
  transcript: EditedTranscript,
  index: number,
  edge: "start" | "end",
  isBetween: boolean,
): MovedPlace {
  let word = index;
  let paragraph = 0;
  while (word >= transcript[paragraph]!.length) word -= transcript[paragraph++]!.length;
  const { starts, ends } = paragraphText(transcript[paragraph]!);
  return { paragraph, word, offset: (edge === "start" ? starts : ends)[word]!, isBetween };
}
