import { compareWords } from "../compare-words.ts";
import { type Paragraph, paragraphText } from "../edited-transcript.ts";

interface Change {
  /** Where the words of `before` are in the element's text; null for a word that is not found. */
  places: readonly ({ start: number; end: number } | null)[];
  before: Paragraph;
  after: Paragraph;
}

/** Returns the offset of a caret after its paragraph changed: it stays in its word, or in the one that replaced it. */
export function movedOffset(offset: number, { places, before, after }: Change): number {
  const word = places.findLastIndex((place) => place !== null && place.start <= offset);
  if (word < 0) return 0;
  const inWord = offset - places[word]!.start;
  const { text, starts, ends } = paragraphText(after);
  let moved = word;
  for (const { before: removed, after: added } of compareWords(before, after)) {
    if (word < removed.from) break;
    if (word < removed.to) {
      const replacing = added.from + word - removed.from;
      if (replacing >= added.to) return ends[added.to - 1] ?? 0;
      return Math.min(starts[replacing]! + inWord, ends[replacing]!);
    }
    moved += added.to - added.from - (removed.to - removed.from);
  }
  return Math.min(starts[moved]! + inWord, starts[moved + 1] ?? text.length);
}
